// What origami says of square bfloat16 products: with v5's blocks, and the best of 27 shapes.
#include <cstdio>
#include <origami/gemm.hpp>
#include <origami/origami.hpp>
#include <vector>

using namespace origami;
using arch = hardware_t::architecture_t;

int main() {
  struct { const char* name; arch a; size_t units, lds; int khz; } gpus[] = {
      {"MI300X", arch::gfx942, 304, 65536, 2100000}, {"MI355X", arch::gfx950, 256, 163840, 2400000}};
  for (auto& g : gpus) {
    auto hardware = hardware_t::get_hardware_for_arch(g.a, g.units, g.lds, 4 << 20, g.khz);
    auto instruction = hardware.get_recommended_matrix_instruction(data_type_t::BFloat16);
    for (size_t n : {1024, 2048, 4096, 8192}) {
      problem_t p;
      p.size = dim3_t{n, n, n};
      p.a_dtype = p.b_dtype = p.c_dtype = p.d_dtype = p.mi_dtype = data_type_t::BFloat16;
      std::vector<config_t> shapes;
      auto add = [&](size_t bm, size_t bk, size_t bn) {
        config_t c;
        c.mt = dim3_t{bm, bn, bk};
        c.mi = instruction;
        c.occupancy = 2;
        shapes.push_back(c);
      };
      auto rate = [&] { return compute_perf_gflops(hardware, p, rank_configs(p, hardware, shapes)[0].latency) / 1e3; };
      add(128, 64, 128);
      double same = rate();
      for (size_t bm : {64, 128, 256})
        for (size_t bn : {64, 128, 256})
          for (size_t bk : {32, 64, 128}) add(bm, bk, bn);
      std::printf("%s %zu: 128x64x128 %.0f TFLOP/s, the best %.0f\n", g.name, n, same, rate());
    }
  }
}
