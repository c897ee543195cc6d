import { closeSync, existsSync, fdatasync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { PRIVATE_FILE, syncDirectory } from '../../durable-files.ts'

/** Bytes between the two slots: they share no sector and no page, so that one write cannot damage both. */
const SLOT_DISTANCE = 4096
/** Sequence, revision and checksum, 8 + 8 + 4 bytes. */
const SLOT_SIZE = 20

interface Slot {
  readonly sequence: number
  readonly revision: number
}

/** The file of the mark that belongs to a file of the storage. */
export function markFileOf(file: string): string {
  return `${file}-mark`
}

/**
 * The newest acknowledged revision, durable in a file of its own. SQLite takes a write-ahead log that was deleted or cut
 * for one that ended there, so only a mark outside of it shows that acknowledged writes are lost.
 *
 * A commit raises the mark before its writers are answered. The two slots are written in turn and in place: one write
 * of 20 bytes, and a crash in the middle leaves the other slot. What is written survives the end of the process. It
 * survives a power failure once it is synced, which begins at once in another thread: a commit that waited for that
 * would take half as long again. So after a power failure the mark may be some milliseconds old, never too new.
 */
export class HighWaterMark {
  readonly #descriptor: number
  #sequence = 0
  /** The sequence of the newest slot that is synced, or that a sync under way covers. */
  #synced = 0
  #isSyncing = false
  #isClosed = false

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  /** Opens the mark of `file` and makes it if it is missing. */
  static open(file: string, revision: number): HighWaterMark {
    const name = markFileOf(file)
    const isThere = existsSync(name)
    const mark = new HighWaterMark(openSync(name, isThere ? 'r+' : 'wx+', PRIVATE_FILE))
    mark.reset(revision)
    if (!isThere) syncDirectory(path.dirname(name))
    return mark
  }

  /** The revision of the mark of `file`. Undefined: there is no mark; `unreadable`: it is damaged. */
  static read(file: string): number | 'unreadable' | undefined {
    const name = markFileOf(file)
    if (!existsSync(name)) return undefined
    const descriptor = openSync(name, 'r')
    try {
      const [first, second] = [readSlot(descriptor, 0), readSlot(descriptor, 1)]
      const newest = first && second ? (first.sequence > second.sequence ? first : second) : (first ?? second)
      return newest ? newest.revision : 'unreadable'
    } finally {
      closeSync(descriptor)
    }
  }

  /** Sets the mark to `revision`, which is durable in the log. */
  raise(revision: number): void {
    this.#write(revision)
    this.#sync()
  }

  /** Sets the mark to `revision`, which may be lower: the writers of later ones were told that they failed. */
  reset(revision: number): void {
    this.#write(revision)
    this.#write(revision)
    fdatasyncSync(this.#descriptor)
    this.#synced = this.#sequence
  }

  close(): void {
    this.#isClosed = true
    // A sync under way still uses the file.
    if (!this.#isSyncing) this.#finish()
  }

  #finish(): void {
    if (this.#synced < this.#sequence) fdatasyncSync(this.#descriptor)
    closeSync(this.#descriptor)
  }

  /** Syncs in another thread. Marks that are raised meanwhile are synced together afterwards. */
  #sync(): void {
    if (this.#isSyncing) return
    this.#isSyncing = true
    this.#synced = this.#sequence
    fdatasync(this.#descriptor, () => {
      // A failure is not reported here: the log is on the same disk, and its commits meet it too.
      this.#isSyncing = false
      if (this.#isClosed) this.#finish()
      else if (this.#synced < this.#sequence) this.#sync()
    })
  }

  #write(revision: number): void {
    const slot = Buffer.alloc(SLOT_SIZE)
    slot.writeBigUInt64BE(BigInt(++this.#sequence), 0)
    slot.writeBigUInt64BE(BigInt(revision), 8)
    slot.writeUInt32BE(crc32(slot.subarray(0, 16)), 16)
    writeSync(this.#descriptor, slot, 0, SLOT_SIZE, (this.#sequence % 2) * SLOT_DISTANCE)
  }
}

function readSlot(descriptor: number, index: number): Slot | undefined {
  const slot = Buffer.alloc(SLOT_SIZE)
  const isWhole = readSync(descriptor, slot, 0, SLOT_SIZE, index * SLOT_DISTANCE) === SLOT_SIZE
  if (!isWhole || slot.readUInt32BE(16) !== crc32(slot.subarray(0, 16))) return undefined
  return { sequence: Number(slot.readBigUInt64BE(0)), revision: Number(slot.readBigUInt64BE(8)) }
}
