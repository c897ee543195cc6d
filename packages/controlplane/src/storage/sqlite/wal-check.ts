import { readFileSync } from 'node:fs'

const HEADER = 32
const FRAME_HEADER = 24
const MAGIC = 0x377f0682

/**
 * Whether a write-ahead log has lost acknowledged transactions.
 *
 * SQLite reads the log up to the first frame with a wrong checksum and takes that for the torn end of an unfinished
 * transaction. A frame that is damaged later would silently discard every transaction after it. The two cases differ: a
 * transaction begins only after the previous one is synced, so nothing follows a torn one. A complete transaction
 * behind a bad frame proves that the bad frame was once complete.
 */
export function lostTransactions(file: string): boolean {
  const log = readIfThere(file)
  if (!log || log.length < HEADER) return false
  const magic = log.readUInt32BE(0)
  if ((magic & ~1) >>> 0 !== MAGIC) return false
  const sum = (magic & 1) === 1 ? sumBigEndian : sumLittleEndian
  const pageSize = log.readUInt32BE(8)
  const frameSize = FRAME_HEADER + pageSize
  if (pageSize < 512) return false
  let chain = sum(log, 0, 24, [0, 0])
  if (!isStored(log, 24, chain)) return false
  const salt = log.subarray(16, 24)
  let isBroken = false
  let isFinished = false
  for (let at = HEADER; at + frameSize <= log.length; at += frameSize) {
    const isOfThisLog = log.subarray(at + 8, at + 16).equals(salt)
    // After the log restarts, frames of its previous use follow.
    if (!isOfThisLog && !isBroken) return false
    const next = sum(log, at + FRAME_HEADER, pageSize, sum(log, at, 8, chain))
    const isWhole = isOfThisLog && isStored(log, at + 16, next)
    if (isWhole && isFinished) return true
    if (!isWhole) isBroken = true
    // The last frame of a transaction holds the size of the database after it.
    if (isBroken && isOfThisLog && log.readUInt32BE(at + 4) !== 0) isFinished = true
    chain = [log.readUInt32BE(at + 16), log.readUInt32BE(at + 20)]
  }
  return false
}

type Sum = readonly [number, number]

function isStored(log: Buffer, at: number, [first, second]: Sum): boolean {
  return log.readUInt32BE(at) === first && log.readUInt32BE(at + 4) === second
}

function sumBigEndian(log: Buffer, at: number, length: number, [first, second]: Sum): Sum {
  let a = first
  let b = second
  for (let place = at; place < at + length; place += 8) {
    a = (a + log.readUInt32BE(place) + b) >>> 0
    b = (b + log.readUInt32BE(place + 4) + a) >>> 0
  }
  return [a, b]
}

function sumLittleEndian(log: Buffer, at: number, length: number, [first, second]: Sum): Sum {
  let a = first
  let b = second
  for (let place = at; place < at + length; place += 8) {
    a = (a + log.readUInt32LE(place) + b) >>> 0
    b = (b + log.readUInt32LE(place + 4) + a) >>> 0
  }
  return [a, b]
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
