// The oracle renders templates with Helm's own engine. It reads JSON lines {"template","values"} from standard input,
// with the values as YAML text, and answers each with {"output"} or {"error"}.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log"
	"os"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

const (
	name = "claim-test"
	file = "templates/resources.yaml"
)

type question struct {
	Template string `json:"template"`
	Values   string `json:"values"`
}

type answer struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
}

func main() {
	// Helm logs warnings about values; only the answers are of interest.
	log.SetOutput(io.Discard)
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		bench()
		return
	}
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := encoder.Encode(reply(line)); err != nil {
				panic(err)
			}
			// The caller may wait for this answer before it asks again.
			if in.Buffered() == 0 {
				out.Flush()
			}
		}
		if err != nil {
			out.Flush()
			return
		}
	}
}

func reply(line []byte) answer {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return failure(err)
	}
	output, err := render(asked)
	if err != nil {
		return failure(err)
	}
	return answer{Output: &output}
}

func failure(err error) answer {
	text := err.Error()
	return answer{Error: &text}
}

func render(asked question) (string, error) {
	values, err := chartutil.ReadValues([]byte(asked.Values))
	if err != nil {
		return "", err
	}
	chrt := &chart.Chart{
		Metadata:  &chart.Metadata{Name: name, Version: "0.1.0", APIVersion: chart.APIVersionV2},
		Templates: []*chart.File{{Name: file, Data: []byte(asked.Template)}},
	}
	release := chartutil.ReleaseOptions{Name: name, Namespace: "default", IsInstall: true, Revision: 1}
	prepared, err := chartutil.ToRenderValues(chrt, values, release, nil)
	if err != nil {
		return "", err
	}
	rendered, err := engine.Render(chrt, prepared)
	if err != nil {
		return "", err
	}
	return rendered[name+"/"+file], nil
}
