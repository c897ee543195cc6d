package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"
)

// bench reads one question and prints nanoseconds per parse and per render of the parsed template. Helm's engine parses
// for each rendering, so that this uses Go's engine with the same functions.
func bench() {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		panic(err)
	}
	values, err := chartutil.ReadValues([]byte(asked.Values))
	if err != nil {
		panic(err)
	}
	chrt := &chart.Chart{Metadata: &chart.Metadata{Name: name, Version: "0.1.0", APIVersion: chart.APIVersionV2}}
	release := chartutil.ReleaseOptions{Name: name, Namespace: "default", IsInstall: true, Revision: 1}
	dot, err := chartutil.ToRenderValues(chrt, values, release, nil)
	if err != nil {
		panic(err)
	}
	root := rootTemplate()
	parsed := template.Must(template.Must(root.Clone()).New(file).Parse(asked.Template))
	bind(parsed)
	parse := measure(func() {
		template.Must(template.Must(root.Clone()).New(file).Parse(asked.Template))
	})
	render := measure(func() {
		var out strings.Builder
		if err := parsed.Execute(&out, dot); err != nil {
			panic(err)
		}
	})
	fmt.Printf("{\"parse\":%d,\"render\":%d}\n", parse, render)
}

func measure(run func()) int64 {
	const period = time.Second
	for start := time.Now(); time.Since(start) < period/4; {
		run()
	}
	start := time.Now()
	count := int64(0)
	for time.Since(start) < period {
		run()
		count++
	}
	return time.Since(start).Nanoseconds() / count
}

func rootTemplate() *template.Template {
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(value any) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	functions["include"] = func(string, any) (string, error) { return "", nil }
	functions["tpl"] = func(string, any) (string, error) { return "", nil }
	return template.New("gotpl").Option("missingkey=zero").Funcs(functions)
}

// bind gives a parsed template the functions that render templates.
func bind(parsed *template.Template) {
	parsed.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := parsed.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"tpl": func(text string, data any) (string, error) {
			clone, err := parsed.Clone()
			if err != nil {
				return "", err
			}
			inner, err := clone.New("gotpl").Parse(text)
			if err != nil {
				return "", err
			}
			bind(inner)
			var out strings.Builder
			err = inner.Execute(&out, data)
			return out.String(), err
		},
	})
}
