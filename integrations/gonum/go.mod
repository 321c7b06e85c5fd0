module matladder/integrations/gonum

go 1.26.0

require (
	gonum.org/v1/gonum v0.17.0
	matladder v0.0.0
)

require (
	golang.org/x/sys v0.49.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace matladder => ../..
