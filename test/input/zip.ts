import { crc32, deflateRawSync } from 'node:zlib';

/** A zip archive of these parts. */
export function zipOf(parts: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    const data = Buffer.from(content);
    const packed = deflateRawSync(data);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(data), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), head, Buffer.from(name), packed]);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), head, end, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A workbook whose only sheet, `Sheet`, has this XML; `more`: further parts, or others in place of the usual ones. */
export function workbookOf(sheet: string, more: Readonly<Record<string, string | Buffer>> = {}): Buffer {
  return zipOf({
    '_rels/.rels': `<Relationships><Relationship Id="r" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': '<workbook><sheets><sheet name="Sheet" sheetId="1" r:id="rId9"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId9" Type="${OFFICE}/worksheet" Target="worksheets/sheet7.xml"/><Relationship Id="s" Type="${OFFICE}/sharedStrings" Target="/xl/sharedStrings.xml"/><Relationship Id="y" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    'xl/worksheets/sheet7.xml': sheet,
    ...more,
  });
}
