import { describe, expect, test, vi } from 'vitest'
import { SecretValue } from '../config/secret-value.ts'
import { configFor, get, keep, open, serve, text, watch } from './testdata/harness.ts'
import { startProxy, startSocks } from './testdata/servers.ts'

describe('through a proxy', () => {
  test('an HTTP proxy gets a CONNECT with the password of its address', async () => {
    const server = await serve((request, response) => response.end(String(request.headers['proxy-authorization'])))
    const seen: (string | undefined)[] = []
    const proxy = keep(
      await startProxy((request) => {
        seen.push(request.headers['proxy-authorization'])
        return 200
      }),
    )
    const transport = open(configFor(server, { proxyUrl: new SecretValue(`http://u:p@127.0.0.1:${proxy.port}`) }))
    expect(await text(transport)).toBe('200 undefined')
    const stream = await transport.request({ ...watch })
    expect(await stream.body.text()).toBe('undefined')
    expect(proxy.requests).toEqual([`CONNECT 127.0.0.1:${server.port}`, `CONNECT 127.0.0.1:${server.port}`])
    expect(seen[0]).toBe(`Basic ${Buffer.from('u:p').toString('base64')}`)
    await transport.close()
    await vi.waitFor(() => expect(proxy.sockets.size).toBe(0))
  })

  test('a SOCKS5 proxy is used', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    const proxy = keep(await startSocks())
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const transport = open(configFor(server, { proxyUrl: new SecretValue(`socks5://127.0.0.1:${proxy.port}`) }))
    expect(await text(transport)).toBe('200 ok')
    expect(proxy.requests).toEqual([`SOCKS 127.0.0.1:${server.port}`])
    warn.mockRestore()
    await transport.close()
    await vi.waitFor(() => expect(proxy.sockets.size).toBe(0))
  })

  test('the error of a proxy does not contain its password', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    const proxy = keep(await startProxy(() => 407))
    const transport = open(configFor(server, { proxyUrl: new SecretValue(`http://u:hunter2@127.0.0.1:${proxy.port}`) }))
    const error: unknown = await transport.request(get).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'TENURE_CONNECTION_PROXY',
      message: expect.stringMatching(/407.*check proxy-url/),
    })
    expect(String(error)).not.toContain('hunter2')
  })
})
