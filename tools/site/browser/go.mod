module matladder/tools/site/browser

go 1.26.0

require (
	github.com/traefik/yaegi v0.16.1
	golang.org/x/tools v0.52.0
	matladder v0.0.0
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da // indirect
	golang.org/x/sys v0.49.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace matladder => ../../..
