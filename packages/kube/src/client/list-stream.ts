import { type AnswerDecoder, AnswerStream } from '../transport/response-stream.ts'
import type { AnswerStreamOptions } from '../transport/response-stream.ts'
import type { ListStream } from './api.ts'
import { ConnectionError } from '../errors/errors.ts'
import { isProtobuf } from '../model/representation.ts'
import type { Kind } from '../model/kind.ts'
import { ListDecoder } from '../decode/list-decoder.ts'
import { MetadataListDecoder } from '../decode/metadata-list-decoder.ts'
import type { KubeObject, ListMeta, Stored } from '../model/object.ts'
import type { TransportResponse } from '../transport/transport.ts'

export interface AnsweredListOptions<T extends KubeObject> extends Omit<
  AnswerStreamOptions<Stored<T>>,
  'decoderFor' | 'quiet'
> {
  readonly kind: Kind<T>
  /** Whose managedFields entries are wanted. Default everybody's. */
  readonly managedFieldsOf?: readonly string[] | undefined
}

interface AnyListDecoder<T extends KubeObject> extends AnswerDecoder<Stored<T>> {
  readonly metadata: ListMeta | undefined
}

/** One list, as batches of items. */
export class AnsweredList<T extends KubeObject> extends AnswerStream<Stored<T>> implements ListStream<T> {
  readonly #metadata: () => ListMeta | undefined

  constructor(options: AnsweredListOptions<T>) {
    let decoder: AnyListDecoder<T> | undefined
    super({ ...options, decoderFor: (response) => (decoder = decoderFor(response, options)), quiet })
    this.#metadata = () => decoder?.metadata
  }

  get metadata(): ListMeta | undefined {
    return this.#metadata()
  }
}

/** A server may answer with any of the types that it was asked for. */
function decoderFor<T extends KubeObject>(
  { headers }: TransportResponse,
  { kind, managedFieldsOf }: AnsweredListOptions<T>,
): AnyListDecoder<T> {
  return isProtobuf(headers) ? new MetadataListDecoder(kind, managedFieldsOf) : new ListDecoder(kind, managedFieldsOf)
}

function quiet(milliseconds: number): ConnectionError {
  return new ConnectionError(
    'TENURE_LIST_QUIET',
    `The list stopped in the middle and brought nothing for ${milliseconds / 1000} seconds: the connection is taken for dead.`,
  )
}
