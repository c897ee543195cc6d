export * from './testing/seeded-random.ts'
export * from './testing/virtual-clock.ts'
