import type { ControlPlane, ControlPlaneOptions } from '@tenure/controlplane'
import { startControlPlane } from '@tenure/controlplane'
import type { Random, Transport } from '@tenure/kube'
import { Client, systemClock } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { BaseFloor } from './base-floor.ts'

/** The embedded control plane without sockets, in virtual time. */
export class InProcessFloor extends BaseFloor {
  readonly name = 'in process'
  readonly kubeconfig = undefined
  readonly api: Client
  protected readonly interval = 50
  protected readonly patience = 600_000

  readonly clock: VirtualClock
  readonly random: Random
  readonly plane: ControlPlane

  private constructor(plane: ControlPlane, clock: VirtualClock, random: Random) {
    super()
    this.plane = plane
    this.clock = clock
    this.random = random
    this.api = new Client({ transport: plane.transport, clock, random })
    this.undo.push(() => this.whilePassing(plane.stop()))
  }

  static async enter(options: Omit<ControlPlaneOptions, 'clock' | 'random' | 'port'> = {}): Promise<InProcessFloor> {
    // Starts at the current time, so that TLS code with its own clock accepts the certificates.
    const clock = new VirtualClock(systemClock.now())
    const random = seededRandom(1)
    return new InProcessFloor(await startControlPlane({ ...options, port: false, clock, random }), clock, random)
  }

  transport(): Promise<Transport> {
    return Promise.resolve(this.plane.transportFor({}))
  }

  pass(milliseconds: number): Promise<void> {
    return this.clock.advance(milliseconds)
  }
}
