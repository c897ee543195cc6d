import { asError, sleep, TenureError, type Clock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { HostLock } from './host-lock.ts'
import { readNote, writeNote, type HostNote, type HostRecord } from './host-record.ts'

/** Identities of former hosts that are remembered: those of hosts that ended before they served any operator. */
const MAX_ENDED = 16

export interface StartContext {
  /** The address to serve because clients use it; undefined for the first host, which chooses. */
  readonly address: string | undefined
  /** The previous host, if there was one: a first host should prefer its address. */
  readonly former: HostRecord | undefined
  /** Aborted when the start is no longer wanted. */
  readonly signal: AbortSignal
}

/** A server that this process started. */
export interface HostedServer {
  readonly url: string
  readonly kubeconfig: string
  /** Stops serving and closes the storage. */
  close(): Promise<void>
}

/**
 * How a process relates to its data directory:
 * waiting → hosting | joined; joined → taking over → hosting; any → failed | closed.
 */
export type Membership =
  /** Another process holds the directory and does not serve yet. */
  | { readonly state: 'waiting' }
  | { readonly state: 'joined'; readonly host: HostRecord }
  /** The host is gone; this process holds the directory and starts its server. */
  | { readonly state: 'taking over'; readonly former: HostRecord }
  | { readonly state: 'hosting'; readonly host: HostRecord; readonly server: HostedServer }
  /** The server failed to start; the directory is free for other processes. */
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'closed' }

export interface JoinOrHostOptions {
  readonly directory: string
  /** Identity of this process in Leases. Default: none, it runs no operators. */
  readonly identity?: string | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly start: (context: StartContext) => Promise<HostedServer>
  /** Called after each state change. */
  readonly onChange?: (membership: Membership) => void
  /** Milliseconds between attempts to become the host. Default 150. */
  readonly interval?: number
  /** Milliseconds for which a takeover waits for an address or file that is still in use. Default 10 s. */
  readonly resourceTimeout?: number
  /** Ends the wait for a host that does not serve yet. Later, `close` ends the membership. */
  readonly signal?: AbortSignal
}

export interface Member {
  readonly membership: Membership
  /** Stops the server if it runs here, so that another process can take over. */
  close(): Promise<void>
}

/**
 * Hosts a data directory if it is free, or else joins its host, and takes over at the same address when the host is
 * gone. Resolves once this process hosts, or has joined a host that serves.
 */
export async function joinOrHost(options: JoinOrHostOptions): Promise<Member> {
  const { signal } = options
  signal?.throwIfAborted()
  const member = new DirectoryMember(options)
  const onAbort = (): void => member.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await member.open()
  } catch (error) {
    await member.close()
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  return member
}

class DirectoryMember implements Member {
  readonly #options: JoinOrHostOptions & { readonly interval: number; readonly resourceTimeout: number }
  readonly #lock: HostLock
  readonly #closing = new AbortController()
  #membership: Membership = { state: 'waiting' }
  #running: Promise<void> = Promise.resolve()

  constructor(options: JoinOrHostOptions) {
    this.#options = { interval: 150, resourceTimeout: 10_000, ...options }
    this.#lock = new HostLock(options.directory)
  }

  get membership(): Membership {
    return this.#membership
  }

  /** Resolves once it hosts or has joined; continues in the background. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#running = this.#run(resolve).catch((thrown: unknown) => {
        const error = asError(thrown)
        this.#lock.release()
        if (!this.#closing.signal.aborted) this.#setMembership({ state: 'failed', error })
        reject(error)
      })
    })
  }

  abort(reason: unknown): void {
    this.#closing.abort(reason)
  }

  async close(): Promise<void> {
    if (this.#membership.state === 'closed') return
    this.abort(new TenureError('TENURE_HOST_CLOSED', 'This process leaves the data directory.'))
    await this.#running
    try {
      if (this.#membership.state === 'hosting') await this.#stop(this.#membership)
    } finally {
      this.#lock.close()
      this.#setMembership({ state: 'closed' })
    }
  }

  async #stop({ server, host }: Extract<Membership, { state: 'hosting' }>): Promise<void> {
    await server.close()
    writeNote(this.#options.directory, { ...host, state: 'stopped' })
  }

  async #run(settled: () => void): Promise<void> {
    const { clock, interval, directory } = this.#options
    const { signal } = this.#closing
    while (!this.#lock.tryAcquire()) {
      const note = readNote(directory)
      if (note?.state === 'serving') {
        this.#join(note)
        settled()
      }
      await sleep(clock, interval, signal)
    }
    await this.#host()
    settled()
  }

  #join(note: HostNote): void {
    const { state: _, ...host } = note
    const { url, kubeconfig, pid, since } = host
    const known = this.#membership.state === 'joined' ? this.#membership.host : undefined
    if (known?.url === url && known.kubeconfig === kubeconfig && known.pid === pid && known.since === since) return
    this.#options.log.info('joined data directory host', { url, pid })
    this.#setMembership({ state: 'joined', host })
  }

  async #host(): Promise<void> {
    const { directory, clock, log, identity } = this.#options
    const former = readNote(directory)
    const ended = [former?.identity ?? [], former?.ended ?? []].flat().slice(0, MAX_ENDED)
    const joined = this.#membership.state === 'joined' ? this.#membership.host : undefined
    const since = new Date(clock.now()).toISOString()
    if (joined) {
      log.info('data directory host is gone, taking over', { url: joined.url, pid: joined.pid })
      this.#setMembership({ state: 'taking over', former: joined })
    }
    // A process that starts now must not read the former host's note as the note of this one.
    // Its own identity follows once it serves: if the start fails, it has not ended with the lock.
    if (former)
      writeNote(directory, { ...former, pid: process.pid, since, identity: undefined, ended, state: 'starting' })
    const server = await this.#start({ address: joined?.url, former, signal: this.#closing.signal })
    const { url, kubeconfig } = server
    const host: HostRecord = { url, kubeconfig, pid: process.pid, since, identity, ...(ended.length > 0 && { ended }) }
    try {
      writeNote(directory, { ...host, state: 'serving' })
    } catch (error) {
      await server.close()
      throw error
    }
    this.#setMembership({ state: 'hosting', host, server })
  }

  // The operating system releases the resources of a killed process one by one: its port or file may follow the lock.
  async #start(context: StartContext): Promise<HostedServer> {
    const { clock, interval, resourceTimeout, start, log } = this.#options
    const deadline = clock.monotonic() + resourceTimeout
    for (;;) {
      try {
        return await start(context)
      } catch (error) {
        const isInUse = isFileInUse(error) || (context.address !== undefined && isAddressInUse(error))
        if (!isInUse || clock.monotonic() >= deadline) throw error
        log.debug('resources of the former host are still in use', { error })
      }
      await sleep(clock, interval, context.signal)
    }
  }

  #setMembership(membership: Membership): void {
    this.#membership = membership
    try {
      this.#options.onChange?.(membership)
    } catch (error) {
      this.#options.log.error('host change listener failed', { error })
    }
  }
}

const isFileInUse = (error: unknown): boolean => hasCode(error, 'TENURE_STORAGE_IN_USE')
const isAddressInUse = (error: unknown): boolean => hasCode(error, 'EADDRINUSE')

function hasCode(error: unknown, code: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as { readonly code?: unknown }).code === code) return true
  }
  return false
}
