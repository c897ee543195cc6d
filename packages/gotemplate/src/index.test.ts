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

  test('a chart file that is parsed once renders under the name of each chart', () => {
    const template = parseChartFile(
      '{{ .Template.Name }} {{ .Chart.Name }}{{ if .Values.fail }}{{ fail "no" }}{{ end }}',
      {
        release: 'web-<id>',
      },
    )
    expect(renderChartFile(template, {}, { release: 'web-1' })).toBe('web-1/templates/resources.yaml web-1')
    expect(renderChartFile(template, {}, { release: 'web-2' })).toBe('web-2/templates/resources.yaml web-2')
    expect(() => renderChartFile(template, { fail: true }, { release: 'web-3' })).toThrow(
      'execution error at (web-3/templates/resources.yaml:1:62): no',
    )
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
    ['a large pattern', '{{ regexMatch "(x{0,100}){0,10}[yz]" (repeat 1000000 "x") }}', /regular expressions exceeds/],
    [
      'many searches',
      '{{ $s := repeat 100000 "x" }}{{ range until 100000 }}{{ regexFind "yz" $s }}{{ end }}',
      /regular expressions exceeds/,
    ],
    [
      'many patterns',
      '{{ range until 100000 }}{{ regexMatch (printf "[a-z]{%d}x{500}" .) "" }}{{ end }}',
      /regular expressions exceeds/,
    ],
    [
      'deep YAML',
      '{{ $l := list }}{{ range until 1500 }}{{ $l = list $l }}{{ end }}{{ toYaml $l }}',
      /nested too deep/,
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

  test('a pattern that looks ahead in vain at every match is ended by the time limit', () => {
    const template = parse('{{ regexReplaceAll "(a.*b|a)" (repeat 100000 "a") "x" | len }}')
    expect(() => render(template, {}, { limits: { maxTime: 200 } })).toThrow('more than 200 ms')
  })

  test('the limit on the work of regular expressions is an option and leaves other work alone', () => {
    const template = '{{ regexReplaceAll "[^a-z]+" "a b c" "-" }}'
    const loop = '{{ range until 1000 }}{{ . | toString | upper | trim }}{{ end }}'
    const limits = { maxRegexpWork: 100 }
    expect(failure(template, {}, limits)).toMatchObject({ code: 'limit', message: expect.stringContaining('of 100.') })
    expect(failure(template)).toBe('a-b-c')
    expect(failure(loop, {}, limits)).toMatch(/^01234/)
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
