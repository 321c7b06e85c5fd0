package machine

// CommonName is how people know the device: a TPU v5e calls itself TPU v5 lite.
func (d Device) CommonName() string {
	for _, name := range d.Names {
		if normalize(name) == normalize(d.Key) {
			return name
		}
	}
	if len(d.Names) > 0 {
		return d.Names[0]
	}
	return d.Key
}

// CommonName is how people know the device that goes by a name; a name that is not in
// the table, or fits more than one device, stays as it is.
func CommonName(name string) string {
	t := load()
	for _, n := range spellings(name) {
		if i, ok := t.byName[n]; ok {
			return t.devices[i].CommonName()
		}
	}
	return name
}
