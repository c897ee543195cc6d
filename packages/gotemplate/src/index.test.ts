import { describe, expect, test } from 'vitest'

import { parse, parseChartFile, render, renderChartFile } from './index.ts'
import type { RenderLimits } from './index.ts'

function failure(template: string, values: unknown = {}, limits: RenderLimits = {}): unknown {
  try {
    return render(parse(template), values, { limits })
  } catch (error) {
    return error
  }
}

describe('the API', () => {
  test('a parsed template renders any number of times', () => {
    const template = parse('Hello {{ .name | title }}!')
    expect(render(template, { name: 'world' })).toBe('Hello World!')
    expect(render(template, { name: 'moon' })).toBe('Hello Moon!')
  })

  test('a template cannot change the values of its caller', () => {
    const values = { map: { a: 1 } }
    expect(render(parse('{{ $_ := set .map "b" 2 }}{{ .map }}'), values)).toBe('map[a:1 b:2]')
    expect(values).toEqual({ map: { a: 1 } })
  })

  test('a chart file sees its release, and lookup asks the resolver', () => {
    const options = {
      release: 'r',
      namespace: 'n',
      lookup: (_apiVersion: string, kind: string) => ({ kind, items: [1] }),
    }
    const template = parseChartFile(
      '{{ .Release.Name }}/{{ .Release.Namespace }} {{ (lookup "v1" "Pod" "" "").kind }}',
      options,
    )
    expect(renderChartFile(template, {}, options)).toBe('r/n Pod')
  })

  test('time and randomness are injected', () => {
    const options = { now: () => 0, timeZone: 'UTC', randomBytes: (count: number) => new Uint8Array(count) }
    expect(render(parse('{{ now | date "2006-01-02" }} {{ randAlpha 3 }} {{ uuidv4 }}'), {}, options)).toBe(
      '1970-01-01 AAA 00000000-0000-4000-8000-000000000000',
    )
  })
})

describe('hostile templates', () => {
  test.each([
    ['steps', '{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}', /needs more than \d+ steps/],
    ['output', '{{ range until 1000 }}{{ repeat 1000000 "x" }}{{ end }}', /more than \d+ characters/],
    ['repeat', '{{ repeat 1000000000 "x" }}', /more than \d+ characters/],
    ['printf width', '{{ range until 100 }}{{ printf "%9999999d" 1 }}{{ end }}', /more than \d+ characters/],
    ['recursion', '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}', /levels deep/],
    ['template recursion', '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}', /levels deep/],
    ['tpl recursion', '{{ tpl .t . }}', /levels deep/],
    ['a map in itself', '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}', /nested too deep/],
    ['a map in itself as YAML', '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d }}', /deep/],
    [
      'a doubling text',
      '{{ $s := "x" }}{{ range until 60 }}{{ $s = print $s $s }}{{ end }}{{ len $s }}',
      /more than \d+ characters/,
    ],
    ['a doubling join', '{{ $s := "x" }}{{ range until 60 }}{{ $s = cat $s $s }}{{ end }}', /more than \d+ characters/],
    [
      'a doubling quote',
      '{{ $s := "\\"" }}{{ range until 60 }}{{ $s = quote $s $s }}{{ end }}',
      /more than \d+ characters/,
    ],
    [
      'a list of itself',
      '{{ $l := list 1 }}{{ range until 60 }}{{ $l = list $l $l }}{{ end }}{{ $l }}',
      /needs more than/,
    ],
    [
      'a YAML list of itself',
      '{{ $l := list 1 }}{{ range until 60 }}{{ $l = list $l $l }}{{ end }}{{ toYaml $l }}',
      /needs more than/,
    ],
    [
      'a doubling list',
      '{{ $l := list 1 }}{{ range until 60 }}{{ $l = concat $l $l }}{{ end }}',
      /needs more than|characters/,
    ],
  ])('the limit on %s ends the rendering with a clear error', (_name, template, message) => {
    const error = failure(template, { t: '{{ tpl .t . }}' })
    expect(error).toMatchObject({ name: 'TemplateError', code: 'limit' })
    expect((error as Error).message).toMatch(message)
  })

  test('the time limit ends a rendering', () => {
    let now = 0
    const template = parse('{{ range until 100000 }}{{ . }}{{ end }}')
    expect(() => render(template, {}, { now: () => (now += 1000), limits: { maxTime: 5000 } })).toThrow(
      'more than 5000 ms',
    )
  })

  test('deeply nested syntax is an error, not a crash', () => {
    for (const [open, close] of [
      ['{{ if true }}', '{{ end }}'],
      ['{{ with 1 }}', '{{ end }}'],
    ] as const) {
      expect(() => parse(open.repeat(20_000) + close.repeat(20_000))).toThrow('max nesting depth exceeded')
    }
    expect(() => parse(`{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`)).toThrow('max expression depth exceeded')
  })

  test('no template reaches the prototypes of JavaScript', () => {
    const template =
      '{{ .__proto__ }}|{{ .constructor }}|{{ .a.constructor }}|{{ get . "toString" }}|{{ index . "__proto__" }}'
    expect(render(parse(template), { a: {} })).toBe('||||')
    expect(render(parse('{{ $_ := set . "__proto__" 5 }}{{ .__proto__ }}{{ hasKey (dict) "__proto__" }}'), {})).toBe(
      '5false',
    )
    expect(render(parse('{{ (fromJson .j).__proto__.x }}'), { j: '{"__proto__":{"x":1}}' })).toBe('1')
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
  })
})
