// Package echarts holds Apache ECharts, the library that draws the charts of
// reports, as the file to put into a page. It is the "common" build (lines,
// bars, scatter; no maps) of the npm package echarts, unchanged:
//
//	npm pack echarts@6.1.0    # dist/echarts.common.min.js, LICENSE, NOTICE, licenses/LICENSE-d3
//
// Its licence is Apache-2.0 (LICENSE, NOTICE); the part of d3 in it has the BSD licence
// (LICENSE-d3). To move to another version, replace the four files and the constants.
package echarts

import _ "embed"

// JS defines the global echarts when a browser runs it.
//
//go:embed echarts.common.min.js
var JS string

// What JS is.
const (
	Version = "6.1.0"
	Licence = "Apache-2.0"
	SHA256  = "61f13280aba3161f77fc801bf5f9c786f55f10432153a0683fc5cc0700b013d5"
)
