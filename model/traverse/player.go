package traverse

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
)

// PlayerCSS and PlayerJS are the player, for a page that holds several: PlayerJS
// defines traversalPlayer(element, recording).
var (
	//go:embed player.css
	PlayerCSS string
	//go:embed player.js
	PlayerJS string
)

var playerPage = template.Must(template.New("player").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{{.Title}}</title>
<style>{{.CSS}}</style>
<main id="player"></main>
<script>{{.JS}}
traversalPlayer(document.getElementById("player"), {{.Recording}});</script>
</html>
`))

// WriteHTML writes the recording with its player as one page that needs no
// network.
func (r *Recording) WriteHTML(w io.Writer) error {
	data, err := json.Marshal(r) // escapes what could end the script
	if err != nil {
		return err
	}
	return playerPage.Execute(w, struct {
		Title     string
		CSS       template.CSS
		JS        template.JS
		Recording template.JS
	}{r.Title, template.CSS(PlayerCSS), template.JS(PlayerJS), template.JS(data)})
}
