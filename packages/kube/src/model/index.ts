/** Rules of the Kubernetes API model that do not need a client: JSON values, names, selectors, quantities, images. */
export { STUCK_CONTAINER_REASONS } from './container-reasons.ts'
export { parseImage, type ImageReference } from './image-reference.ts'
export * from './json.ts'
export * from './label-selector.ts'
export * from './names.ts'
export { isSameFailure, type PodFailure, podFailureOf } from './pod-failure.ts'
export * from './quantity.ts'
