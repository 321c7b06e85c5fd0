package hlo

import "slices"

// readGroup reads the members of a group of devices.
func readGroup(message []byte) (ids []int64, err error) {
	err = fieldsOf[[]int64]{1: list(own[[]int64])}.read(&ids, message)
	return ids, err
}

// readDeviceList reads groups of devices that are written out, or are a readIota.
func readDeviceList(message []byte) (groups [][]int64, err error) {
	err = fieldsOf[[][]int64]{1: parts(own[[][]int64], readGroup), 2: func(groups *[][]int64, _ int64, data []byte) (err error) {
		*groups, err = readIota(data)
		return err
	}}.read(&groups, message)
	return groups, err
}

// iotaGroups are groups of devices as the numbers from 0 on, given a shape, transposed,
// and cut into groups.
type iotaGroups struct {
	count, size int64
	dims, perm  []int64
}

func readIota(message []byte) (groups [][]int64, err error) {
	var x iotaGroups
	err = fieldsOf[iotaGroups]{
		1: number(func(x *iotaGroups) *int64 { return &x.count }),
		2: number(func(x *iotaGroups) *int64 { return &x.size }),
		3: list(func(x *iotaGroups) *[]int64 { return &x.dims }),
		4: list(func(x *iotaGroups) *[]int64 { return &x.perm }),
	}.read(&x, message)
	if err != nil {
		return nil, err
	}
	ids, count, size := iota(x.dims, x.perm), x.count, x.size
	if count < 1 || size < 1 || count > maxDevices/size || int64(len(ids)) != count*size {
		return nil, errGroups
	}
	return slices.Collect(slices.Chunk(ids, int(size))), nil
}

// readMesh reads groups of devices as a mesh and the axes along which they exchange. Parts
// of axes, which it does not know, are no groups.
func readMesh(message []byte) (groups [][]int64, err error) {
	var dims, along, rest []int64
	known := true
	err = fields(message, func(number int, _ int64, data []byte) error {
		const devices, axes = 1, 2
		switch number {
		case devices:
			return fields(data, func(number int, _ int64, data []byte) error {
				if number != 1 { // an axis, of whose fields 1 is the name
					known = false // devices in an order of their own
					return nil
				}
				return fieldsOf[[]int64]{2: list(own[[]int64])}.read(&dims, data)
			})
		case axes:
			along = append(along, 0)
			return fields(data, func(number int, value int64, _ []byte) error {
				known = known && number == 1
				along[len(along)-1] = value
				return nil
			})
		}
		return nil
	})
	size := int64(1)
	for i, d := range dims {
		if slices.Contains(along, int64(i)) {
			size *= max(1, d)
		} else {
			rest = append(rest, int64(i))
		}
	}
	ids := iota(dims, append(rest, along...))
	if err != nil || !known || len(ids) == 0 || int64(len(ids))%size != 0 {
		return nil, err
	}
	return slices.Collect(slices.Chunk(ids, int(size))), nil
}

// iota are the numbers from 0 on in the shape dims, in the order of its transposition.
func iota(dims, perm []int64) []int64 {
	if len(dims) == 0 {
		return nil
	}
	strides, n := make([]int64, len(dims)), int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] < 1 || dims[i] > maxDevices/n {
			return nil
		}
		strides[i], n = n, n*dims[i]
	}
	order := slices.Clone(perm)
	if len(order) == 0 {
		for i := range dims {
			order = append(order, int64(i))
		}
	}
	if len(order) != len(dims) || slices.ContainsFunc(order, func(i int64) bool { return i < 0 || i >= int64(len(dims)) }) {
		return nil
	}
	ids := []int64{0}
	for _, axis := range order {
		var next []int64
		for _, id := range ids {
			for i := range dims[axis] {
				next = append(next, id+i*strides[axis])
			}
		}
		if ids = next; int64(len(ids)) > maxDevices {
			return nil
		}
	}
	return ids
}
