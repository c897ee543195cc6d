import type { Client, Clock, Random, Transport } from '@tenure/kube'
import type { Manager } from '@tenure/runtime'

/**
 * A Kubernetes API to test operators on. The same test runs on all of them: in process, where time is virtual; the
 * embedded server over HTTPS; and a real cluster.
 */
export interface Floor {
  readonly name: 'in process' | 'embedded' | 'cluster'
  readonly clock: Clock
  readonly random: Random
  /** The admin's. */
  readonly api: Client
  /** Of the admin, for programs; undefined in process. */
  readonly kubeconfig: string | undefined
  /** A way to the API of its own, as the admin; closed with the floor. */
  transport(): Promise<Transport>
  /** A fresh namespace, removed with the floor. */
  namespace(prefix: string): Promise<string>
  /** Lets time pass: at once where it is virtual. */
  pass(milliseconds: number): Promise<void>
  /** Waits until `look` answers something true, and gives it back. */
  until<R>(what: string, look: () => R | Promise<R>): Promise<Exclude<R, undefined | null | false>>
  /** Runs a manager, until the answer is called or the floor is left. */
  run(manager: Manager): Running
  leave(): Promise<void>
}

export interface Running {
  /** Stops it cleanly. */
  stop(): Promise<void>
}
