import type { PemSource } from './connection-config.ts'
import type { Files } from './files.ts'

export async function readPem(files: Files, source: PemSource): Promise<string> {
  return 'file' in source ? files.read(source.file) : source.pem.reveal()
}
