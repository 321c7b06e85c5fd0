package hlo

import "slices"

// readGroup reads the members of a group of devices.
func readGroup(message []byte) (ids []int64, err error) {
	err = fields(message, func(number int, value int64, data []byte) (err error) {
		if number == groupIDs {
			ids, err = numbers(ids, value, data)
		}
		return err
	})
	return ids, err
}

// readDeviceList reads groups of devices that are written out, or are a readIota.
func readDeviceList(message []byte) (groups [][]int64, err error) {
	err = fields(message, func(number int, _ int64, data []byte) (err error) {
		switch number {
		case deviceListGroups:
			groups, err = more(groups, readGroup, data)
		case deviceListIota:
			groups, err = readIota(data)
		}
		return err
	})
	return groups, err
}

// readIota reads groups of devices as the numbers from 0 on, given a shape, transposed,
// and cut into groups.
func readIota(message []byte) (groups [][]int64, err error) {
	var count, size int64
	var dims, perm []int64
	err = fields(message, func(number int, value int64, data []byte) (err error) {
		switch number {
		case iotaGroups:
			count = value
		case iotaSize:
			size = value
		case iotaDims:
			dims, err = numbers(dims, value, data)
		case iotaPerm:
			perm, err = numbers(perm, value, data)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	ids := iota(dims, perm)
	if count < 1 || size < 1 || count > maxDevices/size || int64(len(ids)) != count*size {
		return nil, errGroups
	}
	for i := range count {
		groups = append(groups, ids[i*size:(i+1)*size])
	}
	return groups, nil
}

// readMesh reads groups of devices as a mesh and the axes along which they exchange. Parts
// of axes, which it does not know, are no groups.
func readMesh(message []byte) (groups [][]int64, err error) {
	var dims, along, rest []int64
	known := true
	err = fields(message, func(number int, _ int64, data []byte) error {
		switch number {
		case meshDevices:
			return fields(data, func(number int, _ int64, data []byte) error {
				if number != meshAxis {
					known = false // devices in an order of their own
					return nil
				}
				return fields(data, func(number int, value int64, _ []byte) error {
					if number == axisSize {
						dims = append(dims, value)
					}
					return nil
				})
			})
		case meshAlong:
			along = append(along, 0)
			return fields(data, func(number int, value int64, _ []byte) error {
				if number != axisIndex {
					known = false
				}
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
	for i := int64(0); i < int64(len(ids)); i += size {
		groups = append(groups, ids[i:i+size])
	}
	return groups, nil
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
