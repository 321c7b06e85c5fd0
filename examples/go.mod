module example.com/matladder/examples

go 1.26.0

require matladder v0.0.0

require (
	golang.org/x/sys v0.49.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace matladder => ..
