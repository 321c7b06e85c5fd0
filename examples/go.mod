module example.com/matladder/examples

go 1.26.0

require (
	github.com/gomlx/compute v0.0.0-20260716164435-04857206aff7
	matladder v0.0.0
	matladder/integrations/gomlx v0.0.0-00010101000000-000000000000
)

require (
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/exp v0.0.0-20260824195058-e88cd73687aa // indirect
	golang.org/x/sys v0.49.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	k8s.io/klog/v2 v2.140.0 // indirect
)

replace matladder => ..

replace matladder/integrations/gomlx => ../integrations/gomlx
