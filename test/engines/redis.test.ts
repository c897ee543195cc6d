import { afterAll, describe, expect, test } from 'vitest'
import { redisFormat } from '../../packages/databases/src/engines/redis.ts'
import { EngineServer, isMissing } from './engine-server.ts'
import { hostileValues } from './hostile-values.ts'

const hostile = hostileValues(redisFormat, 40).join(' | ').slice(0, 1_500)
const settings = {
  'syslog-ident': hostile,
  'maxmemory-policy': 'allkeys-lru',
  save: '900 1 300 10',
  timeout: 33,
  activerehashing: false,
}

/** Runs a command of the client; an error reply is a failure. */
const cli = (server: EngineServer, ...args: readonly string[]): Promise<string> =>
  server.must([`${server.engine}-cli`, '-e', '-h', '127.0.0.1', '-p', String(server.port), ...args])

/** Starts a pod. Pods share a port and differ in their address; here they share an address and differ in their port. */
function start(server: EngineServer, pod: number, primary: EngineServer): void {
  const args = server.args.map((arg) =>
    arg.replace(`"$PRIMARY_HOST" ${server.port}`, `"$PRIMARY_HOST" ${primary.port}`),
  )
  server.start(args, { POD_NAME: `shop-${pod}`, PRIMARY_HOST: '127.0.0.1' })
}

async function startPrimary(server: EngineServer): Promise<void> {
  start(server, 0, server)
  await server.until(async () => (await server.probe('startupProbe')) === 0)
}

describe.each([
  ['redis', 'redis'],
  ['valkey', 'valkey'],
] as const)('%s', (type, user) => {
  describe.skipIf(isMissing(`${type}-server`, `${type}-cli`))(
    `a server with rendered settings (skipped without the package ${type})`,
    { timeout: 120_000 },
    () => {
      const servers: EngineServer[] = []
      afterAll(async () => {
        for (const server of servers) await server.close()
      })

      test('the server starts, takes the credentials of the Secret and keeps its data', async () => {
        const server = await EngineServer.create(type, { settings, memory_limit: '1Gi' }, user)
        servers.push(server)
        expect(await server.probe('livenessProbe')).not.toBe(0)
        await startPrimary(server)
        expect([await server.probe('readinessProbe'), await server.probe('livenessProbe')]).toEqual([0, 0])
        expect(await server.probe('readinessProbe', { REDISCLI_AUTH: 'wrong' })).not.toBe(0)

        const uri = server.map(server.secret['uri'] ?? '').replace('shop.n.svc', '127.0.0.1')
        expect(await server.must([`${type}-cli`, '-u', uri, 'ping'], { REDISCLI_AUTH: '' })).toBe('PONG')
        const get = async (name: string): Promise<string> =>
          (await cli(server, '--raw', 'config', 'get', name)).split('\n').slice(1).join('\n')
        expect(await get('syslog-ident')).toBe(hostile)
        expect(await get('maxmemory-policy')).toBe('allkeys-lru')
        expect(await get('save')).toBe('900 1 300 10')
        expect(await get('timeout')).toBe('33')
        expect(await get('activerehashing')).toBe('no')
        expect(await get('maxmemory')).toBe(String(0.75 * 2 ** 30))
        expect(await get('appendonly')).toBe('yes')
        expect(server.commandLinesWith(server.secret['password'] ?? '')).toEqual([])

        await cli(server, 'set', 'kept', 'still here')
        expect(await server.stop('SIGTERM')).toBe(0)
        expect(await server.probe('livenessProbe')).not.toBe(0)
        await startPrimary(server)
        expect(await cli(server, 'get', 'kept')).toBe('still here')
      })

      test('a server that runs a long script is alive but not ready', async () => {
        const [server] = servers
        if (!server) throw new Error('The server does not run')
        await cli(server, 'config', 'set', 'busy-reply-threshold', '50')
        const script = cli(server, 'eval', 'while true do end', '0').catch(String)
        await server.until(async () => (await server.probe('readinessProbe')) !== 0)
        expect(await server.probe('livenessProbe')).toBe(0)
        await cli(server, 'script', 'kill')
        expect(await script).toContain('killed')
        expect(await server.probe('readinessProbe')).toBe(0)
      })

      test('a second pod copies the first one and takes no writes', async () => {
        const [primary] = servers
        if (!primary) throw new Error('The primary does not run')
        const replica = await EngineServer.create(type, { replicas: 2 }, user)
        servers.push(replica)
        // Both pods read one Secret.
        replica.write('/etc/nest-auth/auth.conf', primary.secret['auth.conf'] ?? '')
        const password = { REDISCLI_AUTH: primary.secret['password'] ?? '' }
        start(replica, 10, primary)
        const ask = (...command: readonly string[]) =>
          replica.run([`${type}-cli`, '-e', '-h', '127.0.0.1', '-p', String(replica.port), ...command], password)
        await replica.until(async () => (await ask('get', 'kept')).stdout.trim() === 'still here')
        expect(await replica.probe('readinessProbe', password)).toBe(0)
        const refused = await ask('set', 'kept', 'changed')
        expect(refused.code).not.toBe(0)
        expect(refused.stdout + refused.stderr).toContain('READONLY')
      })
    },
  )
})
