import { ResponseStream } from '../transport/response-stream.ts'
import type { ResponseStreamOptions } from '../transport/response-stream.ts'
import type { WatchEvent } from './api.ts'
import { ConnectionError } from '../errors/errors.ts'
import type { Kind } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'
import { WatchDecoder } from '../decode/watch-decoder.ts'

export interface WatchStreamOptions<T extends KubeObject> extends Omit<
  ResponseStreamOptions<WatchEvent<T>>,
  'decoderFor' | 'idleError'
> {
  readonly kind: Kind<T>
  /** Maximum length of an event in bytes. Default 64 MiB. */
  readonly maxLine?: number | undefined
}

/** A watch response, in batches of events. */
export class WatchStream<T extends KubeObject> extends ResponseStream<WatchEvent<T>> {
  constructor(options: WatchStreamOptions<T>) {
    super({ ...options, decoderFor: () => new WatchDecoder(options.kind, options.maxLine), idleError })
  }
}

function idleError(milliseconds: number): ConnectionError {
  return new ConnectionError(
    'TENURE_WATCH_QUIET',
    `The watch stalled: no data for ${milliseconds / 1000} seconds, not even a bookmark. Check the connection to the API server.`,
  )
}
