import type { ResponseDecoder } from '../transport/response-stream.ts'

/** Pushes the bytes in chunks of `size`. Like a transport, it overwrites the memory of each chunk afterwards. */
export function decode<V>(decoder: ResponseDecoder<V>, bytes: Buffer, size = Infinity): V[] {
  const values: V[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.from(bytes.subarray(at, Math.min(bytes.length, at + size)))
    values.push(...decoder.push(chunk))
    chunk.fill(0)
  }
  values.push(...decoder.end())
  return values
}
