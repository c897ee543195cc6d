import { request } from 'node:http'

export interface ProbeAnswer {
  readonly status: number
  readonly text: string
}

/** The answer of the server at HEALTH_CHECK_PORT; undefined if nothing answers there. Each call is a new connection. */
export function askProbe(port: number, path: '/healthz' | '/readyz'): Promise<ProbeAnswer | undefined> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', () => resolve(undefined))
    })
    asked.on('error', () => resolve(undefined))
    asked.end()
  })
}
