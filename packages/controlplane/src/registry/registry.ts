import { methodNotAllowed, notFound } from '../errors.ts'
import type { RegistryContext } from './context.ts'
import { create } from './verbs/create.ts'
import { remove, removeCollection } from './verbs/delete.ts'
import { bind, bindNamed, evict } from './subresources/pods.ts'
import { get, list } from './verbs/read.ts'
import type { ResourceResponse, ResourceRegistry, ResourceRequest } from './request.ts'
import { scale } from './subresources/scale.ts'
import { patch } from './verbs/patch.ts'
import { update } from './verbs/update.ts'
import { watch } from './watch/watch.ts'

/** The Kubernetes verbs, the same for every kind; the definition of a kind holds its differences. */
export class GenericRegistry implements ResourceRegistry {
  readonly #context: RegistryContext

  constructor(context: RegistryContext) {
    this.#context = context
  }

  async handle(request: ResourceRequest): Promise<ResourceResponse> {
    switch (request.subresource) {
      case '':
        return this.#resource(request)
      case 'scale':
        return scale(this.#context, request)
      case 'eviction':
        return evict(this.#context, request)
      case 'binding':
        return bind(this.#context, request)
      default:
        return this.#view(request)
    }
  }

  #resource(request: ResourceRequest): ResourceResponse | Promise<ResourceResponse> {
    const context = this.#context
    switch (request.verb) {
      case 'get':
        return get(context, request)
      case 'list':
        return list(context, request)
      case 'watch':
        return watch(context, request)
      case 'create':
        return request.definition.bucket === 'bindings' ? bindNamed(context, request) : create(context, request)
      case 'update':
        return update(context, request)
      case 'patch':
        return patch(context, request)
      case 'delete':
        return remove(context, request)
      case 'deletecollection':
        return removeCollection(context, request)
      default:
        throw notFound(request.definition, request.name ?? '')
    }
  }

  /** Subresources that write the same object under other rules: status, finalize… */
  #view(request: ResourceRequest): ResourceResponse | Promise<ResourceResponse> {
    switch (request.verb) {
      case 'get':
        return get(this.#context, request)
      case 'update':
        return update(this.#context, request)
      case 'patch':
        return patch(this.#context, request)
      default:
        throw methodNotAllowed('the server does not allow this method on the requested resource')
    }
  }
}
