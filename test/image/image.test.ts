import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePorts } from '../cluster/free-ports.ts'
import { buildImage, type Image } from './build.ts'
import { canMount, Container } from './container.ts'
import { OPERATOR_NAMES, operatorRun, type PostgresAddress } from './operators.ts'

const POLL_OPTIONS = { timeout: 150_000, interval: 50 }
const TEST_TIMEOUT_MS = 400_000
const BUILD_ARGUMENTS = { VERSION: '9.8.7', BUILD_TIME: '2026-11-19T06:00:00Z', GIT_COMMIT: 'c0ffee' }

/** Prints the files that the process has loaded when it ends. */
const LOADED_FILES = `
import { registerHooks } from 'node:module'
const files = []
registerHooks({ load: (url, context, next) => { files.push(url); return next(url, context) } })
process.on('exit', () => console.log('LOADED ' + JSON.stringify(files)))`

const OPERATOR_FILES = ['applications.js', 'claims.js', 'databases.js', 'leases.js']

const containers: Container[] = []
let image: Image
let data: string
let plane: Container | undefined

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}, from = image): Container {
  const container = new Container(from, args, { environment, volumes: { '/data': data } })
  containers.push(container)
  return container
}

async function stopAll(): Promise<void> {
  await Promise.all(containers.splice(0).map((container) => container.stop()))
}

function statusOf(url: string): Promise<number> {
  return fetch(url, { headers: { accept: 'text/html' } }).then(
    async (response) => {
      await response.text()
      return response.status
    },
    () => 0,
  )
}

describe.runIf(canMount)('the image', () => {
  beforeAll(async () => {
    image = buildImage('tenure', BUILD_ARGUMENTS)
    data = mkdtempSync(path.join(tmpdir(), 'tenure-image-data-'))
    const [user = 0, group = 0] = image.user.split(':').map(Number)
    chownSync(data, user, group)
    const [port] = await freePorts(1)
    plane = new Container(image, ['controlplane', '--data', '/data', '--port', `${port}`], {
      volumes: { '/data': data },
    })
    await vi.waitUntil(() => plane?.output.includes('kubeconfig'), POLL_OPTIONS)
  }, TEST_TIMEOUT_MS)
  afterEach(stopAll)
  afterAll(async () => {
    await plane?.stop()
    rmSync(data, { recursive: true, force: true })
    image.remove()
  })

  test('the files of its entry point exist, and there is no shell', () => {
    const files = image.entrypoint.filter((part) => part.startsWith('/'))
    expect(files).toEqual(['/usr/local/bin/node', '/app/tenure.js'])
    for (const file of files) expect(existsSync(path.join(image.root, file))).toBe(true)
    for (const folder of ['bin', 'usr/bin', 'sbin', 'app/node_modules']) {
      expect(existsSync(path.join(image.root, folder))).toBe(false)
    }
  })

  test('without arguments it prints the help', async () => {
    const container = run([])
    expect(await container.exited()).toBe(0)
    for (const name of ['start', ...OPERATOR_NAMES]) expect(container.output).toContain(name)
  })

  test('tenure version shows the build arguments', async () => {
    const container = run(['version', '-o', 'json'])
    expect(await container.exited()).toBe(0)
    const { VERSION: version, BUILD_TIME: buildTime, GIT_COMMIT: gitCommit } = BUILD_ARGUMENTS
    expect(JSON.parse(container.output)).toMatchObject({ version, buildTime, gitCommit })
  })

  test('its process is an unprivileged user that cannot write', async () => {
    const program = `
      const { readFileSync, writeFileSync } = require('node:fs')
      const status = readFileSync('/proc/self/status', 'utf8')
      let code
      try { writeFileSync('/app/x', '') } catch (error) { code = error.code }
      console.log(JSON.stringify({ user: process.getuid(), groups: process.getgroups(), code,
        name: require('node:os').userInfo().username, capabilities: /CapEff:\\s*(\\w+)/.exec(status)[1] }))`
    const container = run(['-e', program], {}, { ...image, entrypoint: ['/usr/local/bin/node'] })
    expect(await container.exited()).toBe(0)
    expect(JSON.parse(container.output)).toEqual({
      user: 65_532,
      groups: [65_532],
      name: 'tenure',
      code: 'EROFS',
      capabilities: '0000000000000000',
    })
  })

  // Without a PostgreSQL its operator cannot run.
  const [flavor] = postgresFlavors
  const names = OPERATOR_NAMES.filter((name) => name !== 'databases' || flavor !== undefined)

  test.each(names)(
    '%s becomes ready, serves its dashboard, stops cleanly, and has loaded its own code only',
    { timeout: TEST_TIMEOUT_MS },
    async (name) => {
      const postgres = name === 'databases' && flavor ? await TestPostgres.start(flavor) : undefined
      try {
        const { args, environment, readyUrl, dashboardUrl } = await operatorRun(name, await addressOf(postgres))
        const hook = `--import=data:text/javascript,${encodeURIComponent(LOADED_FILES)}`
        const container = run(args, { ...environment, KUBECONFIG: '/data/kubeconfig', NODE_OPTIONS: hook })
        await expect.poll(() => container.hasExited || statusOf(readyUrl), POLL_OPTIONS).toBe(200)
        const pages = dashboardUrl === undefined ? [] : [dashboardUrl, `${dashboardUrl}dashboard/app.js`]
        expect(await Promise.all(pages.map(statusOf))).toEqual(pages.map(() => 200))
        expect(await container.stop()).toBe(0)
        const loaded = loadedFiles(container.output)
        expect(loaded).toContain('tenure.js')
        const own = { leases: [], 'lease-controllers': ['leases.js'] }[name as string] ?? [`${name}.js`]
        expect(loaded.filter((file) => OPERATOR_FILES.includes(file))).toEqual(own)
        expect(loaded).not.toContain('control-plane.js')
        // A lease controller serves no HTTP API.
        expect(loaded.includes('http.js')).toBe(dashboardUrl !== undefined)
      } finally {
        await stopAll()
        await postgres?.stop()
      }
    },
  )
})

async function addressOf(postgres: TestPostgres | undefined): Promise<PostgresAddress | undefined> {
  const address = await postgres?.createDatabase()
  return address && { ...address, password: address.password?.reveal() ?? '' }
}

function loadedFiles(output: string): readonly string[] {
  const line = output.split('\n').find((each) => each.startsWith('LOADED ')) ?? 'LOADED []'
  const urls = JSON.parse(line.slice('LOADED '.length)) as readonly string[]
  return urls.filter((url) => url.startsWith('file:///app/')).map((url) => path.basename(url))
}
