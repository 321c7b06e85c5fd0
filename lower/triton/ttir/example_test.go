package ttir_test

import (
	"context"
	"fmt"

	"matladder/lower/triton/ttir"
)

func Example() {
	k, err := ttir.Parse(`module {
  tt.func public @fill(%o: !tt.ptr<f32>, %n: i32) {
    %v = arith.constant dense<1.0> : tensor<256xf32>
    %id = tt.get_program_id x : i32
    %size = arith.constant 256 : i32
    %first = arith.muli %id, %size : i32
    %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %firsts = tt.splat %first : i32 -> tensor<256xi32>
    %at = arith.addi %firsts, %range : tensor<256xi32>
    %ns = tt.splat %n : i32 -> tensor<256xi32>
    %inside = arith.cmpi slt, %at, %ns : tensor<256xi32>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %to = tt.addptr %os, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    tt.store %to, %v, %inside : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := k.Count(context.Background(), ttir.Launch{Grid: [3]int{4, 1, 1}, Args: map[string]string{"n": "1000"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d programs of %s store %d bytes\n", n.Programs, k.Name, n.OutBytes)
	// Output: 4 programs of fill store 4000 bytes
}
