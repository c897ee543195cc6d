import { delimited, type ProtobufReader, varint } from './reader.ts'

/** Reads the value at the reader's position. Undefined if JSON would omit it. */
type ReadValue = (reader: ProtobufReader) => unknown

interface Field {
  readonly tag: number
  readonly name: string
  readonly read: ReadValue
}

/** The needed fields of a message, by tag. */
export type Message = ReadonlyMap<number, Field>

export function message(...fields: readonly Field[]): Message {
  return new Map(fields.map((field) => [field.tag, field]))
}

/** Reads a message by its description. For rare messages: handwritten code is faster. */
export function readMessage(reader: ProtobufReader, end: number, message: Message): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  while (reader.next(end)) {
    const field = message.get(reader.tag)
    const value = field?.read(reader)
    if (field && value !== undefined) object[field.name] = value
  }
  return object
}

/** A string, omitted if it is empty. */
export const text = (field: number, name: string): Field => own(field, name, (reader) => reader.text() || undefined)

/** An integer that is kept if it is zero. */
export const givenInteger = (field: number, name: string): Field => ({
  ...own(field, name, (reader) => reader.integer()),
  tag: varint(field),
})

/** A value with its own read function. */
export const own = (field: number, name: string, read: ReadValue): Field => ({
  tag: delimited(field),
  name,
  read,
})
