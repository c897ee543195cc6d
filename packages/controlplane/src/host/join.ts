import { asError, sleep, TenureError, type Clock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { HostLock } from './host-lock.ts'
import { readNote, writeNote, type HostNote, type HostRecord } from './host-record.ts'

export interface StartContext {
  /** The address that must be served, because others use it; undefined for the first host, which chooses. */
  readonly address: string | undefined
  /** The host before, if there was one: a first host does well to choose its address again. */
  readonly former: HostRecord | undefined
  /** Aborted if the start is no longer wanted. */
  readonly signal: AbortSignal
}

/** A server that was started here. */
export interface HostedServer {
  readonly url: string
  readonly kubeconfig: string
  /** Stops serving and closes the storage. */
  close(): Promise<void>
}

/**
 * Where a process stands to its data directory:
 * waiting → hosting | joined; joined → taking over → hosting; any → failed | closed.
 */
export type Membership =
  /** Another process has the directory and does not serve yet. */
  | { readonly state: 'waiting' }
  | { readonly state: 'joined'; readonly host: HostRecord }
  /** The host is gone, the directory is ours, the server is being started. */
  | { readonly state: 'taking over'; readonly former: HostRecord }
  | { readonly state: 'hosting'; readonly host: HostRecord; readonly server: HostedServer }
  /** The server could not be started; the directory is free for others. */
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'closed' }

export interface JoinOrHostOptions {
  readonly directory: string
  readonly clock: Clock
  readonly log: Logger
  readonly start: (context: StartContext) => Promise<HostedServer>
  /** Called after each change. */
  readonly onChange?: (membership: Membership) => void
  /** How often it is tried to become the host, in milliseconds. Default 150. */
  readonly interval?: number
  /** How long a take-over waits for an address or a file that is still in use, in milliseconds. Default 10 s. */
  readonly patience?: number
  /** Ends the wait for a host that does not serve yet. Afterwards it is `close` that ends the membership. */
  readonly signal?: AbortSignal
}

export interface Member {
  readonly membership: Membership
  /** Stops the server if it runs here, and lets another take over. */
  close(): Promise<void>
}

/**
 * Hosts a data directory if nobody does, else joins who does, and takes over at the same address when that one is gone.
 * Resolves once it hosts or has joined a host that serves.
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
  readonly #options: JoinOrHostOptions & { readonly interval: number; readonly patience: number }
  readonly #lock: HostLock
  readonly #closing = new AbortController()
  #membership: Membership = { state: 'waiting' }
  #running: Promise<void> = Promise.resolve()

  constructor(options: JoinOrHostOptions) {
    this.#options = { interval: 150, patience: 10_000, ...options }
    this.#lock = new HostLock(options.directory)
  }

  get membership(): Membership {
    return this.#membership
  }

  /** Runs until it hosts or has joined, and on from there in the background. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#running = this.#run(resolve).catch((thrown: unknown) => {
        const error = asError(thrown)
        this.#lock.giveBack()
        if (!this.#closing.signal.aborted) this.#become({ state: 'failed', error })
        reject(error)
      })
    })
  }

  abort(reason: unknown): void {
    this.#closing.abort(reason)
  }

  async close(): Promise<void> {
    if (this.#membership.state === 'closed') return
    this.abort(new TenureError('TENURE_HOST_CLOSED', 'this process leaves the data directory'))
    await this.#running
    try {
      if (this.#membership.state === 'hosting') await this.#stop(this.#membership)
    } finally {
      this.#lock.close()
      this.#become({ state: 'closed' })
    }
  }

  async #stop({ server, host }: Extract<Membership, { state: 'hosting' }>): Promise<void> {
    await server.close()
    writeNote(this.#options.directory, { ...host, state: 'stopped' })
  }

  async #run(settled: () => void): Promise<void> {
    const { clock, interval, directory } = this.#options
    const { signal } = this.#closing
    while (!this.#lock.tryTake()) {
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

  #join({ url, kubeconfig, pid, since }: HostNote): void {
    const known = this.#membership.state === 'joined' ? this.#membership.host : undefined
    if (known?.url === url && known.kubeconfig === kubeconfig && known.pid === pid && known.since === since) return
    this.#options.log.info('Joined the host of the data directory', { url, pid })
    this.#become({ state: 'joined', host: { url, kubeconfig, pid, since } })
  }

  async #host(): Promise<void> {
    const { directory, clock, log } = this.#options
    const former = readNote(directory)
    const joined = this.#membership.state === 'joined' ? this.#membership.host : undefined
    const since = new Date(clock.now()).toISOString()
    if (joined) {
      log.warn('The host of the data directory is gone, taking over', { url: joined.url, pid: joined.pid })
      this.#become({ state: 'taking over', former: joined })
    }
    // Whoever comes now must not take the former host's word for ours.
    if (former) writeNote(directory, { ...former, pid: process.pid, since, state: 'starting' })
    const server = await this.#start({ address: joined?.url, former, signal: this.#closing.signal })
    const { url, kubeconfig } = server
    const host: HostRecord = { url, kubeconfig, pid: process.pid, since }
    try {
      writeNote(directory, { ...host, state: 'serving' })
    } catch (error) {
      await server.close()
      throw error
    }
    this.#become({ state: 'hosting', host, server })
  }

  // What a killed process held goes piece by piece: its address or its file may be free a moment after the lock.
  async #start(context: StartContext): Promise<HostedServer> {
    const { clock, interval, patience, start, log } = this.#options
    const deadline = clock.monotonic() + patience
    for (;;) {
      try {
        return await start(context)
      } catch (error) {
        const isInUse = isFileInUse(error) || (context.address !== undefined && isAddressInUse(error))
        if (!isInUse || clock.monotonic() >= deadline) throw error
        log.debug('What the former host used is not free yet', { error })
      }
      await sleep(clock, interval, context.signal)
    }
  }

  #become(membership: Membership): void {
    this.#membership = membership
    try {
      this.#options.onChange?.(membership)
    } catch (error) {
      this.#options.log.error('A listener to changes of the host failed', { error })
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
