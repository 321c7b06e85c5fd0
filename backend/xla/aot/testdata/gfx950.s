	.amdgcn_target "amdgpu9.50-amd-amdhsa-unknown-gfx950"
	.amdhsa_code_object_version 5
	.text
	.globl	v5_quant                        ; -- Begin function v5_quant
	.type	v5_quant,@function
v5_quant:                               ; @v5_quant
; %bb.0:
	.loc	1 2 0 prologue_end              ; v5_quant.ttir:2:0
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
.LBB0_1:
	v_mfma_f32_32x32x2_f32 v[0:15], v16, v17, v[0:15]
	v_mfma_f32_32x32x2_f32 a[0:14], v18, v19, a[0:14]
	s_cbranch_scc1 .LBB0_1
	s_endpgm
	.section	.rodata,"a",@progbits
		.amdhsa_next_free_vgpr 143
	.set .Lv5_quant.num_agpr, 15
; Occupancy: 3
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     15
    .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 512
    .kernarg_segment_size: 24
    .max_flat_workgroup_size: 256
    .name:           v5_quant
    .private_segment_fixed_size: 0
    .sgpr_count:     18
    .sgpr_spill_count: 0
    .vgpr_count:     143
    .vgpr_spill_count: 2
    .wavefront_size: 64
amdhsa.target:   amdgpu9.50-amd-amdhsa-unknown-gfx950
...

	.end_amdgpu_metadata
