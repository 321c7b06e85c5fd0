#!/bin/sh
# Compiles origami, AMD's analytic model of products, from PyPI and prints what rates.cpp asks.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip download --quiet --no-deps --dest "$folder" rocm-origami==0.0.3
tar -xzf "$folder"/rocm_origami-0.0.3.tar.gz -C "$folder"
cd "$folder/rocm_origami-0.0.3"
c++ -std=c++17 -O1 -w -I"$here" -Iinclude "$here/rates.cpp" $(find src -name '*.cpp') -o "$folder/rates"
"$folder/rates"
