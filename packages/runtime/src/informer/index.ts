export type { InformerTuning } from './informer.ts'
export { SharedInformers, type InformerReport, type SharedInformersOptions } from './shared-informers.ts'
export * from './types.ts'
