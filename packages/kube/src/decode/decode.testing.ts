import type { AnswerDecoder } from '../transport/response-stream.ts'

/** Pushes the bytes in chunks of `size`, each in memory that is overwritten afterwards, as transports do. */
export function decode<V>(decoder: AnswerDecoder<V>, bytes: Buffer, size = Infinity): V[] {
  const values: V[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.from(bytes.subarray(at, Math.min(bytes.length, at + size)))
    values.push(...decoder.push(chunk))
    chunk.fill(0)
  }
  values.push(...decoder.end())
  return values
}
