import { expect, test } from 'vitest'
import { readAudit } from '../../scripts/audit.ts'
import { runtimePackages, sbom } from '../../scripts/sbom.ts'

interface Component {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[]
}

test(
  'the bill of materials has every package of the runtime with its licence, and no other',
  { timeout: 60_000 },
  async () => {
    const document = JSON.parse(await sbom()) as {
      readonly bomFormat: string
      readonly components: readonly Component[]
    }
    expect(document.bomFormat).toBe('CycloneDX')
    const own = document.components.filter(({ purl }) => /^pkg:npm\/(%40tenure\/|tenure@)/.test(purl))
    const others = document.components.filter((component) => !own.includes(component))
    expect(own).toHaveLength(12)
    const listed = others.map(({ purl }) => decodeURIComponent(purl.slice('pkg:npm/'.length)))
    expect(new Set(listed)).toEqual(new Set(runtimePackages().keys()))
    const licences = document.components.map(({ licenses }) => licenses?.[0]?.expression ?? licenses?.[0]?.license?.id)
    expect(new Set(licences)).toEqual(new Set(['Apache-2.0', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']))

    const names = new Set(
      others.map(({ purl }) => decodeURIComponent(purl.slice('pkg:npm/'.length)).replace(/@[^@]*$/, '')),
    )
    for (const tool of ['vitest', 'typescript', 'rolldown', 'oxlint']) expect([...names]).not.toContain(tool)
    // In the runtime, although a test tool has it as well; and bundled in the page.
    expect([...names]).toEqual(expect.arrayContaining(['@opentelemetry/api', 'preact', 'undici', 'pg']))
  },
)

test('the audit fails for a vulnerable package, and only then', () => {
  expect(readAudit('{"vulnerabilities":{}}')).toMatchObject({ isClean: true })
  const vulnerable = { undici: { name: 'undici', severity: 'high', range: '<8.0.0' } }
  expect(readAudit(JSON.stringify({ vulnerabilities: vulnerable }))).toEqual({
    isClean: false,
    message: expect.stringContaining('undici <8.0.0: high') as string,
  })
  expect(readAudit('{"message":"405 Method Not Allowed","error":{}}')).toEqual({
    isClean: true,
    message: 'Not checked, because the registry did not answer: 405 Method Not Allowed',
  })
})
