import type { HostedServer } from './join.ts'

/** A service of the process that hosts a data directory; it begins and ends with the control plane. */
export interface HostedService {
  start(): Promise<{ stop(): Promise<void> }>
}

/** Services that start together. `stop` also stops those that have not finished their start. */
interface StartingServices {
  readonly started: Promise<unknown>
  stop(): Promise<void>
}

export function startServices(services: readonly HostedService[]): StartingServices {
  const starting = services.map((service) => service.start())
  const started = Promise.all(starting)
  // The caller waits for it after the control plane has started.
  started.catch(() => undefined)
  return {
    started,
    async stop() {
      const settled = await Promise.allSettled(starting)
      const running = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      await Promise.all(running.map((service) => service.stop()))
    },
  }
}

/** The server, closed after its services. Rejects if one of them did not start. */
export async function withServices(server: HostedServer, services: StartingServices): Promise<HostedServer> {
  try {
    await services.started
  } catch (error) {
    await services.stop()
    await server.close()
    throw error
  }
  return {
    ...server,
    close: async () => {
      await services.stop()
      await server.close()
    },
  }
}
