package plugin

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"matladder/internal/cli"
	"matladder/plugins"
)

// list shows what is installed.
func list(f *flags, stdout io.Writer) error {
	if f.set.NArg() > 1 {
		return cli.Usagef("list takes no arguments")
	}
	folder, all, err := installed()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	if len(all) == 0 {
		fmt.Fprintf(w, "no plugins in %s\n", folder)
		for _, p := range plugins.Known {
			fmt.Fprintf(w, "  %s\t%s\tgo run ./cmd/plugin install %s\n", p.Name, p.Title, p.Name)
		}
		return nil
	}
	fmt.Fprintln(w, "plugin\tversion\tplatform\tPJRT API\tlibrary")
	name := ""
	for _, i := range all {
		note := ""
		switch err := i.Damage(); {
		case err != nil:
			note = "  (" + err.Error() + ")"
		case i.Name == name:
			note = "  (not used: an older installation)"
		}
		if err := i.Vouched(); err != nil {
			note += "  (not used: " + err.Error() + ")"
		} else if i.Unpinned {
			note += "  (unpinned)"
		}
		name = i.Name
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s%s\n", i.Name, i.Version, i.Platform, cmp.Or(i.API, "-"), i.Library(), note)
	}
	return nil
}

// installed is what is in the folder of plugins.
func installed() (folder string, all []plugins.Installed, err error) {
	if folder, err = plugins.Folder(); err == nil {
		all, err = plugins.List(folder)
	}
	return folder, all, err
}
