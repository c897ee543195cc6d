import { AnswerStream } from '../transport/response-stream.ts'
import type { AnswerStreamOptions } from '../transport/response-stream.ts'
import type { WatchEvent } from './api.ts'
import { ConnectionError } from '../errors/errors.ts'
import type { Kind } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'
import { WatchDecoder } from '../decode/watch-decoder.ts'

export interface WatchStreamOptions<T extends KubeObject> extends Omit<
  AnswerStreamOptions<WatchEvent<T>>,
  'decoderFor' | 'quiet'
> {
  readonly kind: Kind<T>
  /** Bytes. Default 64 MiB. */
  readonly maxLine?: number | undefined
}

/** One watch, as batches of events. */
export class WatchStream<T extends KubeObject> extends AnswerStream<WatchEvent<T>> {
  constructor(options: WatchStreamOptions<T>) {
    super({ ...options, decoderFor: () => new WatchDecoder(options.kind, options.maxLine), quiet })
  }
}

function quiet(milliseconds: number): ConnectionError {
  return new ConnectionError(
    'TENURE_WATCH_QUIET',
    `The watch brought nothing at all for ${milliseconds / 1000} seconds, not even a bookmark: the connection is taken for dead.`,
  )
}
