package problem

import (
	"strings"
	"testing"
)

// TestFormats reads each way to name operands by formats, and what is none.
func TestFormats(t *testing.T) {
	for words, want := range map[string]string{
		"mxfp8":                  "float8_e4m3fn→bfloat16 per_block32+token_block+e8m0",
		"mxfp4:float32:bias":     "float4_e2m1fn→float32 per_block32+token_block+e8m0 bias",
		"nvfp4":                  "float4_e2m1fn→bfloat16 per_block16+token_block+e4m3",
		"mxint8":                 "int8→bfloat16 per_block32+token_block+e8m0",
		"mxfp8xmxfp4":            "float8_e4m3fn×float4_e2m1fn→bfloat16 per_block32+token_block+e8m0",
		"mxfp8×mxfp4":            "float8_e4m3fn×float4_e2m1fn→bfloat16 per_block32+token_block+e8m0",
		"bfloat16xmxfp4":         "bfloat16×float4_e2m1fn per_block32+e8m0",
		"float32xnvfp4":          "float32×float4_e2m1fn per_block16+e4m3",
		"bfloat16xmxfp4:dynamic": "bfloat16×float4_e2m1fn per_block32+dynamic_token_block+e8m0",
	} {
		a, err := MatmulFamily.Parse(words)
		if err != nil || a.String() != want {
			t.Errorf("%s: %q, %v; want %q", words, a, err, want)
		}
		if err != nil || strings.Contains(words, "dynamic") {
			continue
		}
		name, _, _ := strings.Cut(strings.ReplaceAll(words, "x", "×"), ":")
		name = strings.ReplaceAll(name, "m×", "mx")
		if got := FormatNames(a.A.String(), a.B.String(), a.Quant); got != name {
			t.Errorf("%s is named %q", words, got)
		}
	}
	for _, words := range []string{"mxfp5", "mxfp4xint8", "nvfp4xmxfp4", "mxfp4x", "xmxfp4", "mxfp4:per_tensor", "bfloat16xnvfp4:dynamic", "mxfp4:dynamic", "float8_e8m0fnu"} {
		if a, err := MatmulFamily.Parse(words); err == nil || strings.Contains(err.Error(), `"m"`) {
			t.Errorf("%s is read as %s, %v", words, a, err)
		}
	}
}
