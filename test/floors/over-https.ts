import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startControlPlane } from '@tenure/controlplane'
import type { Transport } from '@tenure/kube'
import { Client, HttpTransport, loadConfig, systemClock, systemRandom } from '@tenure/kube'
import { BaseFloor } from './base-floor.ts'

/** A Kubernetes API behind HTTPS and a kubeconfig: the embedded one, or a real cluster. */
export class HttpsFloor extends BaseFloor {
  readonly clock = systemClock
  readonly random = systemRandom
  readonly name: 'embedded' | 'cluster'
  readonly kubeconfig: string
  readonly api: Client
  protected readonly interval = 20
  protected readonly patience = 90_000

  private constructor(name: 'embedded' | 'cluster', kubeconfig: string, transport: HttpTransport) {
    super()
    this.name = name
    this.kubeconfig = kubeconfig
    this.api = new Client({ transport })
    this.undo.push(() => transport.close())
  }

  static async embedded(): Promise<HttpsFloor> {
    const plane = await startControlPlane()
    const directory = await mkdtemp(path.join(tmpdir(), 'tenure-floor-'))
    const kubeconfig = path.join(directory, 'kubeconfig')
    await writeFile(kubeconfig, plane.kubeconfig ?? '', { mode: 0o600 })
    const floor = await HttpsFloor.#enter('embedded', kubeconfig)
    floor.undo.unshift(
      () => rm(directory, { recursive: true, force: true }),
      () => plane.stop(),
    )
    return floor
  }

  static cluster(kubeconfig: string): Promise<HttpsFloor> {
    return HttpsFloor.#enter('cluster', kubeconfig)
  }

  static async #enter(name: HttpsFloor['name'], kubeconfig: string): Promise<HttpsFloor> {
    return new HttpsFloor(
      name,
      kubeconfig,
      new HttpTransport(await loadConfig({ kubeconfigPath: kubeconfig, env: {} })),
    )
  }

  async transport(): Promise<Transport> {
    const transport = new HttpTransport(await loadConfig({ kubeconfigPath: this.kubeconfig, env: {} }))
    this.undo.push(() => transport.close())
    return transport
  }

  async pass(milliseconds: number): Promise<void> {
    await sleep(milliseconds)
  }
}
