import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { installedBinaries } from '@tenure/databases/embedded-postgres'
import { afterEach, expect, test } from 'vitest'
import { hasTools, POLL_OPTIONS, Terminal } from './terminal.ts'

const readme = readFileSync(path.join(import.meta.dirname, '../../README.md'), 'utf8')

/** The commands after `$ ` in the README, with the lines that continue them. */
const commands = [...readme.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, command = '']) => command)
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0

/** A command of the README, by a part of it. */
function command(part: string): string {
  const found = commands.filter((each) => each.includes(part))
  expect([part, found.length]).toEqual([part, 1])
  return found[0] ?? ''
}

/** The time in which a new user gets there. */
const MAX_WALK_MS = 180_000

let terminal: Terminal

afterEach(() => terminal.close())

test.runIf(hasTools && installedBinaries() !== undefined)(
  'a new user who types what the README says has an Application, a claim, a lease and a database',
  { timeout: MAX_WALK_MS },
  async () => {
    terminal = new Terminal()
    // Nothing of this user's own clusters; the data is not in .tenure.
    const home = { HOME: terminal.data, KUBECONFIG: '', TENURE_DATA: terminal.data }
    const type = (text: string): Promise<string> => terminal.type(text, home)
    expect(readme).toContain('npm ci\nnpm start\n')
    const job = await terminal.startTenure('npm start', 3000, {
      ...home,
      API_ADDR: `127.0.0.1:${await terminal.port(8080)}`,
      TENURE_KUBERNETES_PORT: '0',
    })
    await expect.poll(() => job.output, POLL_OPTIONS).toContain('Ctrl-C stops everything.')
    expect(job.output).toMatch(/^Dashboard +http:.*\nHTTP API +http:.*\nClaims API +http:.*\nKubernetes API +https:/m)

    const create = command('curl -X POST http://localhost:3000')
    expect(JSON.parse(await type(create))).toMatchObject({ kind: 'Application', metadata: { name: 'shop' } })
    const phase = async (): Promise<unknown> =>
      JSON.parse(
        await type('curl http://localhost:3000/apis/cloudnative.elide.dev/v1/namespaces/default/applications/shop'),
      )
    await expect.poll(phase, POLL_OPTIONS).toMatchObject({ status: { phase: 'Running', readyReplicas: 3 } })
    const variable = command('export KUBECONFIG').replace('$PWD/.tenure', '$TENURE_DATA')
    // Without kubectl the README's own output must have the same form.
    const shown = hasKubectl ? await type(`${variable}; ${command('kubectl get app')}`) : readme
    expect(shown).toMatch(/^application\S+\/shop +3 +3 +Running /m)
    expect(shown).toMatch(/^deployment.apps\/shop +3\/3 /m)
    expect(shown.match(/^pod\/shop-\S+ +1\/1 +Running /gm)).toHaveLength(3)

    const claim = JSON.parse(await type(command('/claim'))) as { readonly expiresAt: string }
    expect(claim).toMatchObject({ id: expect.stringMatching(/./), data: { fqdn: expect.stringMatching(/^claim-/) } })
    expect(Date.parse(claim.expiresAt)).toBeGreaterThan(Date.now())

    // No KUBECONFIG is set: the commands find the running start.
    await type(command('lease set'))
    await expect
      .poll(() => type(command('lease list')), POLL_OPTIONS)
      .toMatch(/^EXPIRES .*\nin 1h29m +\S+ +Application +default +shop +1h30m +Active\.$/m)
    expect(await type(command('tenure -- db create'))).toMatch(/^database orders is active at orders\.\S+:5432$/m)
    expect(await type('npm run -s tenure -- claim list')).toMatch(/^\S+ +\S+/m)
  },
)
