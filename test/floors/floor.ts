import type { Client, Clock, Random, Transport } from '@tenure/kube'
import type { RunOperatorsOptions } from '@tenure/runtime'

/**
 * A Kubernetes API to test operators on. The same test runs on every floor: in process with virtual time, on the
 * embedded server over HTTPS, and on a real cluster.
 */
export interface Floor {
  readonly name: 'in process' | 'embedded' | 'cluster'
  readonly clock: Clock
  readonly random: Random
  /** A client with the admin's credentials. */
  readonly api: Client
  /** Path of the admin's kubeconfig, for programs; undefined in process. */
  readonly kubeconfig: string | undefined
  /** Returns a new transport with the admin's credentials, closed when the floor is left. */
  transport(): Promise<Transport>
  /** Creates a namespace, which is deleted when the floor is left. */
  namespace(prefix: string): Promise<string>
  /** Lets time pass; returns at once where time is virtual. */
  pass(milliseconds: number): Promise<void>
  /** Waits until `look` returns a truthy value, and returns it. */
  until<R>(what: string, look: () => R | Promise<R>): Promise<Exclude<R, undefined | null | false>>
  /** Runs operators with a new transport until `stop` is called or the floor is left. */
  runOperators(options: FloorOperatorsOptions): Promise<Running>
  /** Runs a program until `stop` is called or the floor is left. */
  run(program: Program): Running
  leave(): Promise<void>
}

/** The floor provides the connection, the clock and randomness. */
export type FloorOperatorsOptions = Omit<RunOperatorsOptions, 'transport' | 'clock' | 'random'>

/** Work that runs until `signal` aborts, such as a manager. */
export interface Program {
  run(signal: AbortSignal): Promise<void>
}

export interface Running {
  /** Stops the program cleanly. */
  stop(): Promise<void>
}
