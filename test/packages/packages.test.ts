import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { Client, HttpTransport, loadConfig } from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'
import { load } from 'js-yaml'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Website } from '../../docs/examples/websites.ts'
import { checkExports } from '../../scripts/pack/check-exports.ts'
import { pack, type Tarball } from '../../scripts/pack.ts'
import { root } from '../house/sources.ts'
import { OLDEST_NODE, Project } from './project.ts'

const newestNode = path.dirname(process.execPath)

/** Every kind of file that a package may have. */
const KINDS: readonly RegExp[] = [
  /^package\.json$/,
  /^README\.md$/,
  /^LICENSE$/,
  /^bin\/[\w-]+\.mjs$/,
  /^dist\/.*\.js$/,
  /^dist\/.*\.d\.ts$/,
  /^dist\/(index\.html|app\.css)$/,
  /^config\/template\/\w+\.yaml$/,
]

interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
}

let folder: string
let tarballs: readonly Tarball[]
const manifestOf = ({ directory }: Tarball): Manifest =>
  JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as Manifest

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tenure-packages-'))
  tarballs = await pack(folder)
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }), 300_000)

describe('the packages that npm publishes', () => {
  test('every package of the workspace is packed', () => {
    expect(tarballs.map(({ name }) => name).toSorted()).toEqual(
      readdirSync(path.join(root, 'packages'))
        .map((name) => (name === 'tenure' ? name : `@tenure/${name}`))
        .toSorted(),
    )
  })

  test('every export, command and import leads to a file of the package or to a dependency', () => {
    expect(tarballs.flatMap(checkExports)).toEqual([])
  })

  test('a package has no other files than code, types, its own assets, its README and the license', () => {
    const others = tarballs.flatMap((each) =>
      each.files.filter((file) => !KINDS.some((kind) => kind.test(file))).map((file) => `${each.name}: ${file}`),
    )
    expect(others).toEqual([])
  })

  test('no test is in a package, and fixtures only where an export offers them', () => {
    const wrong = tarballs.flatMap((each) => {
      const hasFixtures = './testing' in manifestOf(each).exports
      return each.files
        .filter((file) => /\.test(ing)?\.|testdata/.test(file) || (!hasFixtures && /\/testing[./]/.test(file)))
        .map((file) => `${each.name}: ${file}`)
    })
    expect(wrong).toEqual([])
  })

  test('no package names a path of this machine', () => {
    const paths = [root, folder, `${homedir()}/`]
    const named = tarballs.flatMap((each) =>
      each.files.filter((file) => {
        const text = readFileSync(path.join(each.directory, file), 'utf8')
        return paths.some((machine) => text.includes(machine))
      }),
    )
    expect(named).toEqual([])
  })

  test('packages depend on each other in exactly their own version', () => {
    const versions = new Map(tarballs.map(manifestOf).map(({ name, version }) => [name, version]))
    const wrong = tarballs.map(manifestOf).flatMap(({ name, dependencies = {} }) =>
      Object.entries(dependencies)
        .filter(([sibling, version]) => (versions.get(sibling) ?? version) !== version)
        .map(([sibling, version]) => `${name}: ${sibling} ${version}`),
    )
    expect(wrong).toEqual([])
  })
})

const LIMITS = { timeout: 300_000 }

/** Every export of every package, as a consumer names it. */
const entries = (): readonly string[] =>
  tarballs
    .map(manifestOf)
    .filter(({ name }) => name !== 'tenure')
    .flatMap(({ exports, name }) => Object.keys(exports).map((subpath) => path.posix.join(name, subpath)))
    .filter((entry) => !entry.endsWith('.json'))

const textOf = (file: string): string => readFileSync(path.join(root, file), 'utf8')

describe('the packages in an empty project', () => {
  let project: Project
  let isInstalled = false

  beforeAll(async () => {
    project = new Project()
    isInstalled = await project.install(tarballs)
    if (!isInstalled) console.log('skipped: there is no npm registry to install from')
    // Other programs may use the port of the example.
    project.write('websites.ts', textOf('docs/examples/websites.ts').replace("':8081'", "'127.0.0.1:0'"))
    project.write('control-plane.ts', textOf('docs/examples/control-plane.ts'))
    const example = textOf('test/docs/control-plane.test.ts')
    project.write('control-plane.test.ts', example.replace('../../docs/examples/', './'))
    const imports = entries().map((entry, index) => `import * as m${index} from '${entry}'\nvoid m${index}\n`)
    project.write('all.ts', imports.join(''))
    const imported = entries().map((entry) => `await import('${entry}')\n`)
    project.write('all.mjs', imported.join(''))
  }, 600_000)
  afterAll(() => project.remove(), 300_000)
  beforeEach((context) => context.skip(!isInstalled))

  test.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('types of all exports are complete with module %s and moduleResolution %s', LIMITS, async (module, resolution) => {
    const options = ['--target', 'es2024', '--module', module, '--moduleResolution', resolution]
    const checks = [
      '--strict',
      '--noEmit',
      '--skipLibCheck',
      'false',
      '--types',
      'node',
      '--allowImportingTsExtensions',
    ]
    const files = ['all.ts', 'websites.ts', 'control-plane.ts']
    expect(await project.run(newestNode, 'npx', ['tsc', ...options, ...checks, ...files])).toBe('')
  })

  describe.each([
    [OLDEST_NODE, () => project.oldestNode],
    [process.versions.node, () => newestNode],
  ])('on Node %s', (version, node) => {
    test('every export can be imported', LIMITS, async () => {
      expect(await project.run(node(), 'node', ['--version'])).toBe(`v${version}\n`)
      await project.run(node(), 'node', ['all.mjs'])
    })

    test('npx @tenure/controlplane prints a kubeconfig, and the example operator works with it', LIMITS, async () => {
      const controlPlane = project.start(node(), 'npx', ['@tenure/controlplane'])
      const kubeconfig = path.join(project.directory, `kubeconfig-${version}`)
      writeFileSync(kubeconfig, (await controlPlane.until(/.*\n/))[0])
      const transport = new HttpTransport(await loadConfig({ kubeconfigPath: kubeconfig, env: {} }))
      const client = new Client({ transport })
      const crd = load(textOf('docs/examples/website-crd.yaml')) as CustomResourceDefinition
      await client.create(CustomResourceDefinition, crd)
      const operator = project.start(node(), 'node', ['websites.ts'], { KUBECONFIG: kubeconfig })
      const example = load(textOf('docs/examples/website.yaml')) as Website
      const phase = async (): Promise<string | undefined> => {
        const website = await client.apply(Website, example, { fieldManager: 'test' }).catch(() => undefined)
        return website?.status?.phase
      }
      await expect.poll(phase, { timeout: 120_000, interval: 100 }).toBe('Running')
      await transport.close()
      expect(await operator.interrupt()).toBe(0)
      await controlPlane.interrupt()
      expect(controlPlane.errors).not.toContain('Warning')
    })

    test('vitest runs the example of the guide on the embedded control plane', LIMITS, async () => {
      expect(await project.run(node(), 'npx', ['vitest', 'run'])).toMatch(/1 passed/)
    })

    test('npx tenure start runs everything, and Ctrl-C ends it', LIMITS, async () => {
      const ports = ['--port', '0', '--kubernetes-port', '0', '--api-addr', '127.0.0.1:0']
      const tenure = project.start(node(), 'npx', ['tenure', 'start', '--data', `data-${version}`, ...ports])
      await tenure.until(/^Ctrl-C stops everything\./m)
      expect(tenure.output).toContain('npx tenure claim')
      const [, dashboard = ''] = await tenure.until(/^Dashboard +(\S+)/m)
      const page = await fetch(dashboard, { headers: { accept: 'text/html' } })
      expect(await page.text()).toContain('/dashboard/app.js')
      await tenure.interrupt()
      expect(tenure.output).toContain('Stopped.')
      expect(tenure.errors).not.toContain('Warning')
    })
  })
})
