/** Allocates unique pod addresses. */
export class PodAddresses {
  readonly #used = new Map<string, string>()
  readonly #owners = new Map<string, string>()
  readonly #prefix: string
  #next = 1

  /** `prefix` is the first two octets, for example `10.244`. */
  constructor(prefix = '10.244') {
    this.#prefix = prefix
  }

  /** The stable address of a pod. Undefined if all addresses are in use. */
  of(uid: string): string | undefined {
    const known = this.#owners.get(uid)
    if (known) return known
    for (let tries = 0; tries < 65_000; tries++) {
      const address = `${this.#prefix}.${this.#next >> 8}.${this.#next & 255}`
      this.#next = this.#next >= 65_000 ? 1 : this.#next + 1
      if (this.#used.has(address)) continue
      this.note(uid, address)
      return address
    }
    return undefined
  }

  /** Records the address of a pod. */
  note(uid: string, address: string): void {
    this.#used.set(address, uid)
    this.#owners.set(uid, address)
  }

  release(uid: string): void {
    const address = this.#owners.get(uid)
    if (address === undefined) return
    this.#owners.delete(uid)
    if (this.#used.get(address) === uid) this.#used.delete(address)
  }
}
