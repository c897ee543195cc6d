import { describe, expect, test } from 'vitest'
import { poolTemplate } from './pool-template.ts'
import type { PoolTemplateOptions } from './pool-template.ts'
import type { PoolTemplate } from './types.ts'

const template = (templateText: string, valuesText = '', more: Partial<PoolTemplateOptions> = {}): PoolTemplate =>
  poolTemplate({
    templateText,
    valuesText,
    namespace: 'ns',
    now: () => 0,
    randomBytes: (count) => new Uint8Array(count),
    ...more,
  })

/** A ConfigMap whose only field shows what a template expression gives. */
const showing = (expression: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shown}\ndata:\n  shown: {{ ${expression} | toString | quote }}\n`

function shown(pool: PoolTemplate, request: Parameters<PoolTemplate['render']>[0] = { id: 'x1' }): unknown {
  return pool.render(request).resources[0]?.manifest['data']
}

const resources = (text: string): string => `resources: ${JSON.stringify(`# password "s3cret" \\ \n${text}`)}`

const revision = (text: string, values: string): string => template(text, values).revision

describe('the context of a template', () => {
  test.each([
    ['.Release.Name', 'claim-x1'],
    ['.Release.Namespace', 'ns'],
    [
      'printf "%s %v %v %v" .Release.Service .Release.IsInstall .Release.IsUpgrade .Release.Revision',
      'Helm true false 1',
    ],
    ['printf "%s %s" .Chart.Name .Chart.Version', 'claim-x1 0.1.0'],
    ['printf "%s %s" .Template.Name .Template.BasePath', 'claim-x1/templates/resources.yaml claim-x1/templates'],
    ['.Capabilities.KubeVersion.Version', 'v1.20.0'],
    ['lookup "v1" "Secret" "ns" "s"', 'map[]'],
    ['.Values.claim', 'map[]'],
    ['.Values.mode', '493'],
    ['.Values.flag', 'true'],
    ['.Values.big', '1e+06'],
    ['.Values.twice', '2'],
    ['now | date "2006"', '1970'],
    ['randAlpha 3', 'AAA'],
  ])('%s is %s', (expression, expected) => {
    const pool = template(showing(expression), 'mode: 0755\nflag: on\nbig: 1000000\ntwice: 1\ntwice: 2\n')
    expect(shown(pool)).toEqual({ shown: expected })
  })

  test('the common template takes its manifests from the values', () => {
    const pool = template(
      '{{ tpl .Values.resources . }}',
      `resources: |\n${showing('.Release.Name').replaceAll(/^/gm, '  ')}`,
    )
    expect(shown(pool)).toEqual({ shown: 'claim-x1' })
  })

  test('one template renders many claims, each with its own name', () => {
    const pool = template(showing('.Template.Name'))
    expect(['a', 'b'].map((id) => shown(pool, { id }))).toEqual([
      { shown: 'claim-a/templates/resources.yaml' },
      { shown: 'claim-b/templates/resources.yaml' },
    ])
  })
})

describe('values of a claim', () => {
  const values = 'claim: {user: {name: nemo, role: guest}, list: [1, 2]}\nother: 1'

  test('they are merged over the claim of the pool’s values, and change nothing else', () => {
    const pool = template(showing('.Values | toJson'), values)
    const request = { id: 'x', values: { user: { name: 'ada' }, list: [3] } }
    expect(shown(pool, request)).toEqual({
      shown: '{"claim":{"list":[3],"user":{"name":"ada","role":"guest"}},"other":1}',
    })
    expect(shown(pool)).toEqual({
      shown: '{"claim":{"list":[1,2],"user":{"name":"nemo","role":"guest"}},"other":1}',
    })
  })

  test('a claim of the pool’s values that is not a map is replaced only by a caller’s', () => {
    const pool = template(showing('.Values.claim'), 'claim: text')
    expect(shown(pool)).toEqual({ shown: 'text' })
    expect(shown(pool, { id: 'x', values: { a: 'b' } })).toEqual({ shown: 'map[a:b]' })
  })

  test('a template cannot change the values that the next claim sees', () => {
    const pool = template(showing('(set .Values.claim "n" (add1 (.Values.claim.n | default 0))).n'), values)
    expect([shown(pool), shown(pool)]).toEqual([{ shown: '1' }, { shown: '1' }])
  })

  test('keys named like properties of all objects change no prototype', () => {
    const pool = template(showing('.Values.claim | toJson'))
    const request = { id: 'x', values: JSON.parse('{"__proto__":{"polluted":1},"constructor":2}') as object as {} }
    expect(shown(pool, request)).toEqual({ shown: '{"__proto__":{"polluted":1},"constructor":2}' })
    expect('polluted' in {}).toBe(false)
  })
})

describe('a template that fails', () => {
  test.each([
    ['{{ if }}', '', 'parse error at (claim-<id>/templates/resources.yaml:1): missing value for if'],
    ['a: {{ nosuch }}', '', 'parse error at (claim-<id>/templates/resources.yaml:1): function "nosuch" not defined'],
    ['a: 1', 'a: [', 'the values are malformed: yaml: line 1: did not find expected node content'],
    ['a: 1', '[a]', 'the values are not a map'],
    ['a: 1', '? {password: s3cret}\n: 1', 'the values are malformed: yaml: invalid map key'],
  ])('%j with values %j is refused when it is parsed', (text, valuesText, message) => {
    expect(() => template(text, valuesText)).toThrow(
      expect.objectContaining({ code: 'TENURE_CLAIM_TEMPLATE', message }),
    )
  })

  test.each([
    ['{{ fail "no luck" }}', 'execution error at (claim-x1/templates/resources.yaml:1:3): no luck'],
    [
      '{{ required "image is needed" .Values.image }}',
      'execution error at (claim-x1/templates/resources.yaml:1:3): image is needed',
    ],
    [
      '{{ .Values.a.b }}',
      'template: claim-x1/templates/resources.yaml:1:10: executing "claim-x1/templates/resources.yaml" at <.Values.a.b>: nil pointer evaluating interface {}.b',
    ],
    ['# nothing', 'the template renders no resources'],
    ['{{ range until 1000000 }}x{{ end }}', 'The template needs more than 1000000 steps. Check its loops.'],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}',
      'ConfigMap "claim-x1" has the name of the claim itself; choose another one',
    ],
  ])('%j fails when it is rendered, with Helm’s message', (text, message) => {
    const pool = template(text)
    expect(() => pool.render({ id: 'x1' })).toThrow(expect.objectContaining({ code: 'TENURE_CLAIM_TEMPLATE', message }))
  })

  test('the message of tpl does not quote its text, which is the values', () => {
    const failing = template('{{ tpl .Values.resources . }}', resources('{{ .Values.a.b }}'))
    expect(() => failing.render({ id: 'x' })).toThrow(
      /^template: claim-x\/templates\/resources.yaml:1:3: executing .* error calling tpl: error during tpl function execution: template: gotpl:2:10: .* nil pointer evaluating interface \{\}\.b$/,
    )
    const malformed = template('{{ tpl .Values.resources . }}', resources('{{ end }}'))
    expect(() => malformed.render({ id: 'x' })).toThrow(
      /cannot parse template: template: gotpl:2: unexpected \{\{end\}\}$/,
    )
  })
})

describe('an error reveals no value of the claim', () => {
  const secret = 'hunter2'
  function failure(text: string, values: Record<string, unknown> = { password: secret, nested: [secret] }): unknown {
    try {
      return template(text).render({ id: 'x', values })
    } catch (error) {
      return error
    }
  }

  test.each([
    ['{{ fail .Values.claim.password }}', 'execution error at (claim-x/templates/resources.yaml:1:3): value'],
    [
      '{{ fail (b64enc .Values.claim.password) }}',
      'execution error at (claim-x/templates/resources.yaml:1:3): dmFsdWU=',
    ],
    [
      '{{ if eq .Values.claim.password "hunter2" }}{{ fail .Values.claim.password }}{{ end }}',
      'execution error at (claim-x/templates/resources.yaml:1:47): failed with the values of this claim',
    ],
    ['{{ fail "a user is needed" }}', 'execution error at (claim-x/templates/resources.yaml:1:3): a user is needed'],
    ['a: *{{ .Values.claim.password }}', "document 1: yaml: unknown anchor 'value' referenced"],
    ['{{ .Values.claim.password }}', 'document 1 is not an object'],
    [
      '{{ if eq .Values.claim.password "value" }}a: b{{ end }}',
      'the template cannot be rendered: failed with the values of this claim',
    ],
    [
      '{{ tpl (print "{{ .x.y }}" .Values.claim.password) . }}',
      'template: claim-x/templates/resources.yaml:1:3: executing "claim-x/templates/resources.yaml" at <tpl (print "{{ .x.y }}" .Values.claim.password) .>: error calling tpl: error during tpl function execution: template: gotpl:1:5: executing "gotpl" at <.x.y>: nil pointer evaluating interface {}.y',
    ],
  ])('%j fails without it', (text, message) => {
    expect(failure(text)).toMatchObject({ code: 'TENURE_CLAIM_TEMPLATE', message })
    expect(failure(text)).not.toHaveProperty('cause')
    expect(message).not.toContain('hunter2')
  })

  test('values that are nested too deep are refused', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`) as Record<string, unknown>
    expect(failure('a: 1', deep)).toMatchObject({ message: 'The values are nested more than 500 levels deep.' })
  })

  test('a loop that a value makes endless is stopped', () => {
    expect(failure('{{ range until (int .Values.claim.n) }}{{ end }}', { n: 1e9 })).toMatchObject({
      message: expect.stringMatching(/^The template /),
    })
  })
})

describe('the revision', () => {
  test('it has 16 hex digits and changes with the template and with the values', () => {
    expect(revision('a: 1', 'b: 1')).toMatch(/^[0-9a-f]{16}$/)
    expect(revision('a: 1', 'b: 1')).toBe(revision('a: 1', 'b: 1'))
    expect(new Set([revision('a: 1', 'b: 1'), revision('a: 2', 'b: 1'), revision('a: 1', 'b: 2')]).size).toBe(3)
    expect(revision('a: 1b', 'b: 1')).not.toBe(revision('a: 1', 'bb: 1'))
  })
})
