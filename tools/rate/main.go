// Rate compares calls of the library with launches as bench times them: of one program, in turns,
// on arrays of the same kind.
//
//	go run ./tools/rate
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"matladder"
	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/seeded"
	"matladder/kernels"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"
)

func main() {
	rounds := flag.Int("rounds", 41, "rounds of each comparison")
	flag.Parse()
	ctx := context.Background()
	machine, err := cpu.Open(cpu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer machine.Close()
	fmt.Printf("%s, %s, %d threads\n", machine.Device().Names[0], machine.ISA(), machine.Threads())
	fmt.Println("size            dtype     bench        Run          packed       64 outputs   64 callers   Run/bench, packed/bench, callers/one caller for 64 outputs: medians of paired rounds")
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		for _, s := range [][3]int{{16, 16, 16}, {64, 64, 64}, {512, 512, 512}, {2048, 2048, 2048}, {16, 4096, 4096}, {1, 4096, 4096}, {4096, 64, 4096}} {
			if err := compare(ctx, machine, problem.New(s[0], s[1], s[2], d), *rounds); err != nil {
				log.Fatal(err)
			}
		}
	}
}

// compare prints a line of the table.
func compare(ctx context.Context, machine *cpu.Backend, p problem.Matmul, rounds int) error {
	k, err := kernels.Find("v5")
	if err != nil {
		return err
	}
	blocks := k.Candidates(p, blocking.Of(machine.Device(), blocking.Setup{}).Machine)[0]
	programs, err := k.Build(p, "", blocks)
	if err != nil {
		return err
	}
	e, err := machine.Compile(ctx, programs, backend.Params{})
	if err != nil {
		return err
	}
	defer e.Close()
	if err := seeded.Of(e, programs, &seeded.References{}).LoadSeeded(ctx, backend.InputSpec{Problem: p, Seed: 1, Dist: "uniform"}); err != nil {
		return err
	}
	c, err := matladder.CompileTile(ctx, programs, matladder.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	a, b, o := array(p.A, p.M, p.K), array(p.B, p.K, p.N), array(p.Out, p.M, p.N)
	packed, err := c.Prepack(ctx, "b", b)
	if err != nil {
		return err
	}
	outs := make([]matladder.Tensor, 64)
	for i := range outs {
		outs[i] = array(p.Out, p.M, p.N)
	}
	launches := 1 + int(2e9/float64(p.FLOPs()+2*p.Bytes()))
	run := func(b matladder.Tensor) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			if err := c.Run(ctx, o, a, b); err != nil {
				return 0, err
			}
			start := time.Now()
			for range launches {
				if err := c.Run(ctx, o, a, b); err != nil {
					return 0, err
				}
			}
			return time.Since(start), nil
		}
	}
	ways := []func() (time.Duration, error){
		func() (time.Duration, error) {
			s, err := e.Run(ctx, launches)
			return s.Elapsed, err
		},
		run(b), run(packed),
		func() (time.Duration, error) { return crowd(ctx, c, 1, launches, a, b, outs) },
		func() (time.Duration, error) { return crowd(ctx, c, len(outs), launches, a, b, outs) },
	}
	times := make([][]float64, len(ways))
	for range rounds {
		for i, way := range ways {
			took, err := way()
			if err != nil {
				return err
			}
			times[i] = append(times[i], took.Seconds()/float64(launches))
		}
		runtime.GC()
	}
	var ratios [3][]float64 // of rates
	for i := range rounds {
		for j, r := range [3]float64{times[0][i] / times[1][i], times[0][i] / times[2][i], times[3][i] / times[4][i]} {
			ratios[j] = append(ratios[j], r)
		}
	}
	fmt.Printf("%-15s %-9s", fmt.Sprintf("%dx%dx%d", p.M, p.K, p.N), p.A)
	for _, list := range times {
		fmt.Printf(" %9.2f µs", median(list)*1e6)
	}
	for _, list := range ratios {
		fmt.Printf(" %6.3f", median(list))
	}
	fmt.Println()
	return nil
}

// crowd is the time of all launches when that many goroutines call, each for its share of outs.
func crowd(ctx context.Context, c *matladder.Program, callers, launches int, a, b matladder.Tensor, outs []matladder.Tensor) (time.Duration, error) {
	each := max(1, launches/len(outs)) // launches of an output
	errs := make([]error, callers)
	var wait sync.WaitGroup
	start := time.Now()
	for i := range callers {
		wait.Go(func() {
			for o := i; o < len(outs); o += callers {
				for range each {
					if err := c.Run(ctx, outs[o], a, b); err != nil {
						errs[i] = err
						return
					}
				}
			}
		})
	}
	wait.Wait()
	took := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return time.Duration(math.Round(float64(took) * float64(launches) / float64(each*len(outs)))), nil
}

func array(d tile.Dtype, rows, cols int) matladder.Tensor {
	if d == tile.BFloat16 {
		x, t := matladder.Make[matladder.BFloat16](rows, cols)
		for i := range x {
			x[i] = matladder.ToBFloat16(float32(i%17)/16 - 0.5)
		}
		return t
	}
	x, t := matladder.Make[float32](rows, cols)
	for i := range x {
		x[i] = float32(i%17)/16 - 0.5
	}
	return t
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
