import { type ResponseDecoder, ResponseStream } from '../transport/response-stream.ts'
import type { ResponseStreamOptions } from '../transport/response-stream.ts'
import type { ListStream } from './api.ts'
import { ConnectionError } from '../errors/errors.ts'
import { isProtobuf } from '../model/representation.ts'
import type { Kind } from '../model/kind.ts'
import { ListDecoder } from '../decode/list-decoder.ts'
import { MetadataListDecoder } from '../decode/metadata-list-decoder.ts'
import type { KubeObject, ListMeta, Stored } from '../model/object.ts'
import type { TransportResponse } from '../transport/transport.ts'

export interface StreamedListOptions<T extends KubeObject> extends Omit<
  ResponseStreamOptions<Stored<T>>,
  'decoderFor' | 'idleError'
> {
  readonly kind: Kind<T>
  /** The managers whose managedFields entries are needed. Default: all. */
  readonly managedFieldsOf?: readonly string[] | undefined
}

interface AnyListDecoder<T extends KubeObject> extends ResponseDecoder<Stored<T>> {
  readonly metadata: ListMeta | undefined
}

/** A list response, in batches of items. */
export class StreamedList<T extends KubeObject> extends ResponseStream<Stored<T>> implements ListStream<T> {
  readonly #metadata: () => ListMeta | undefined

  constructor(options: StreamedListOptions<T>) {
    let decoder: AnyListDecoder<T> | undefined
    super({ ...options, decoderFor: (response) => (decoder = decoderFor(response, options)), idleError })
    this.#metadata = () => decoder?.metadata
  }

  get metadata(): ListMeta | undefined {
    return this.#metadata()
  }
}

/** The server may answer with any of the accepted media types. */
function decoderFor<T extends KubeObject>(
  { headers }: TransportResponse,
  { kind, managedFieldsOf }: StreamedListOptions<T>,
): AnyListDecoder<T> {
  return isProtobuf(headers) ? new MetadataListDecoder(kind, managedFieldsOf) : new ListDecoder(kind, managedFieldsOf)
}

function idleError(milliseconds: number): ConnectionError {
  return new ConnectionError(
    'TENURE_LIST_QUIET',
    `The list stalled: no data for ${milliseconds / 1000} seconds. Check the connection to the API server.`,
  )
}
