module matladder/integrations/gonum

go 1.26.0

require (
	gonum.org/v1/gonum v0.17.0
	matladder v0.0.0
)

require (
	github.com/gomlx/compute v0.0.0-20260716164435-04857206aff7 // indirect
	golang.org/x/sys v0.49.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace matladder => ../..
