/**
 * The words of headers, by what they mean. Languages stand in the order
 * en / de / fr / es / pt / it / nl / pl / ru / sv / others and names of APIs.
 * A word is compared as a token of the folded header (lower case, no accents); compounds (`Erstellungsdatum`, `dealname`) are split into
 * known words. `*` stands for any letters.
 */
const WORDS = {
  id: 'id ids uniqueid uuid guid key identifier ref reference kod / kennung / identifiant / identificador clave / chave / identificativo / identificatie / identyfikator klucz / идентификатор ид ключ / identitet / 编号 识别码',
  number:
    'number no nr num numbers / nummer / numero n / nro / num / numero / nummer / numer / номер / nummer / 号码 番号 cislo رقم sira',
  name: 'name names label / bezeichnung namen / nom intitule libelle / nombre / nome / denominazione nominativo ragione / naam / nazwa / название наименование / namn benamning / 名称 名前 姓名 名 이름 navn nimi isim jmeno nazev nev adi اسم',
  first:
    'first given forename fname firstname / vor vorname / prenom / / / / voor voornaam / imie / имя / fornamn / jmeno fornavn etunimi isim keresztnev prenume',
  last: 'last latest recent / letzte letzter letztes zuletzt / dernier derniere / ultimo ultima / ultimo ultima / ultimo ultima / laatste laatst / ostatni ostatnia / последний последняя последнее / senaste sista',
  surname:
    'surname family lname lastname / nach nachname familien familienname / famille / apellido apellidos / sobrenome apelido / cognome / achter achternaam / nazwisko / фамилия / efternamn / 姓 prijmeni etternavn efternavn sukunimi soyadi soyad vezeteknev nume عائلة',
  middle: 'middle second nick / zweiter / deuxieme / segundo / segundo / secondo / tussen / drugie / отчество / mellan',
  full: 'full complete display / voller vollstandiger vollstandige / complet / completo completa / completo / completo / volledige / pelna pelne / полное / fullstandigt',
  email:
    'email emails mail mails / mailadresse / courriel mel / correo / / posta / mailadres / poczta / почта / epost / 邮箱 电子邮件 电邮 メール 이메일 eposta بريد إلكتروني',
  phone:
    'phone phones telephone tel landline / telefon fon festnetz rufnummer / telephone / telefono / telefone fone / telefono / telefoon / telefon / телефон / telefon / 电话 電話 전화 telefonu puhelin هاتف',
  mobile:
    'mobile cell cellphone gsm whatsapp handset / mobil handy / portable / movil celular / celular telemovel / cellulare / mobiel mobiele / komorka komorkowy / мобильный моб / mobil / 手机 携帯 cep جوال موبايل محمول',
  fax: 'fax / telefax / telecopie / / / / / faks / факс',
  person:
    'guest guests patient patients member members guardian guardians participant participants donor donors holder holders policyholder attendee attendees gast gaste mitglied mitglieder teilnehmer spender patientin membre membres adherent adherents huesped huespedes paciente pacientes miembro miembros socio socios hospede membro membros paziente pazienti ospite ospiti soci deelnemer pacjent pacjenci gosc czlonek пациент гость medlem medlemmar person persons people contact contacts lead leads prospect prospects party individual subscriber / kontakt kontakte ansprechpartner ansprechperson interessent / contact contacts personne prospect interlocuteur interlocuteurs / contacto contactos persona prospecto / contato contatos pessoa pessoas / contatto contatti persona referente anagrafica / contactpersoon contactpersonen persoon / kontakt kontakty osoba osoby / контакт контакты лицо лид лиды / kontakt kontakter person / kontaktni osoba kisi 联系人 联络人 線索 連絡先 شخص',
  customer:
    'customer customers client clients buyer / kunde kunden / client clients / cliente clientes / cliente clientes / cliente clienti / klant klanten / klient klienci klienta / клиент клиенты клиента / kund kunder / 客户 顧客 musteri zakaznik عميل عملاء زبون musteriler',
  company:
    'workspace workspaces tenant tenants company companies account accounts organization organisation organizations organisations org orgs firm business employer vendor / firma firmen unternehmen organisation gesellschaft / societe entreprise compte / empresa empresas compania organizacion cuenta / empresas organizacao conta / azienda aziende societa ditta impresa organizzazione / bedrijf bedrijven organisatie onderneming / organizacja przedsiebiorstwo / компания компании организация фирма / foretag bolag / 公司 企业 会社 sirket spolecnost شركة مؤسسة',
  deal: 'enquiry enquiries inquiry inquiries anfrage anfragen demande demandes consulta consultas solicitud solicitudes richiesta richieste aanvraag aanvragen zapytanie zapytania заявка заявки forfragan forfragningar poptavka poptavky offer offers proposal proposals bid bids angebot angebote offerte offerten devis offre offres presupuesto presupuestos propuesta propuestas oferta ofertas proposta propostas orcamento orcamentos preventivo preventivi oferty предложение предложения offert offerter nabidka nabidky teklif teklifler 見積 deal deals opportunity opportunities potential potentials opp opps oppty sale matter matters / geschaft geschafte verkaufschance verkaufschancen chance auftrag auftrage vorgang / affaire affaires opportunite opportunites vente / negocio negocios oportunidad oportunidades trato tratos / negocio negociacao negociacoes oportunidade oportunidades / trattativa trattative affare affari opportunita / kans kansen verkoopkans / szansa szanse transakcja transakcje okazja / сделка сделки / affar affarer affarsmojlighet / 商机 交易 案件 商談 거래 firsat prilezitost pripad pripady صفقة صفقات فرصة فرص firsatlar',
  user: 'user users employee employees staff rep reps representative agent agents seller salesperson salesrep consultant member members admin officer advisor adviser broker negotiator recruiter / benutzer mitarbeiter verkaufer vertriebler vertreter aussendienst berater sachbearbeiter / utilisateur commercial vendeur / usuario usuarios vendedor comercial / usuario vendedor / utente utenti venditore commerciale agente operatore / gebruiker gebruikers verkoper medewerker / uzytkownik handlowiec sprzedawca pracownik / пользователь менеджер сотрудник продавец / anvandare saljare / 用户 销售员 业务员 営業 사용자 obchodnik مندوب موظف temsilci temsilcisi',
  owner:
    'owner owners owned assigned assignee responsible manager who / besitzer inhaber verantwortlich verantwortliche verantwortlicher zustandig zustandiger zustandige vertriebsmitarbeiter kundenbetreuer vertriebsbeauftragter betreuer zugewiesen zugewiesener bearbeiter / proprietaire responsable attribue assigne charge / propietario responsable asignado asignada encargado titular / proprietario responsavel atribuido dono / responsabile assegnato assegnatario incaricato / eigenaar verantwoordelijke toegewezen beheerder / wlasciciel opiekun przypisany odpowiedzialny / ответственный владелец / agare ansvarig tilldelad / 负责人 所有者 担当者 担当 담당자 sorumlu ejer vlastnik vyrizuje مسؤول sorumlusu',
  created:
    'created create creation added add entered inserted opened received registered begin started / erstellt erstellung erstellungs angelegt anlage hinzugefugt erfasst eingang erzeugt / cree creee ajoute ajout saisie / creado creada creacion alta registro / criado criada criacao cadastro adicionado inclusao / creato creata creazione inserito inserimento apertura / aangemaakt gemaakt toegevoegd aanmaak / utworzono utworzenia utworzony dodano dodania zalozenia / создан создана создано создания добавлен / skapad skapades skapat tillagd / 创建 创建时间 作成 登録 cdate oprettet vytvoreno olusturma zalozeno إضافة إنشاء تسجيل kayit',
  modified:
    'modified modify modification updated update changed change edited moved / geandert anderung anderungs bearbeitet aktualisiert / modifie modifiee mise maj / modificado modificada modificacion actualizado actualizacion / modificacao atualizado atualizacao alterado / modificato modifica aggiornato aggiornamento / gewijzigd bijgewerkt wijziging / zmodyfikowano modyfikacji zmiany aktualizacji / изменен изменено изменения обновлено / andrad uppdaterad / 修改 更新 mdate udate',
  closed:
    'closed close closing end ended finished lost / abschluss abgeschlossen ende geschlossen gewonnen verloren / cloture fin ferme / cierre cerrado fin / fechamento encerramento fechado ganho / chiusura chiuso fine / afsluit afsluiting afsluitdatum gesloten einde gewonnen verloren / zamkniecia zamkniecie koniec / закрытия закрыта завершения окончания / avslut avslutad stangd slut / closedate edate 成交',
  due: 'due deadline expected next scheduled planned forecast reminder follow birthday birth expiry expires valid estimated / fallig falligkeit erwartet erwartetes erwarteter geplant nachste nachster geburtstag geburts wiedervorlage / echeance prevu prevue prochaine naissance / vencimiento previsto prevista esperado esperada proximo proxima nacimiento / vencimento nascimento / scadenza attesa prossimo prossima nascita / verwacht verwachte verval volgende geboorte / oczekiwany oczekiwana planowany nastepny urodzenia / срок ожидаемая ожидаемый следующий рождения / forvantad forvantat nasta fodelse / 预计 到期 予定 nextdate ocekavane ocekavany',
  date: 'date datetime time at on day timestamp when / datum zeit zeitpunkt tag uhrzeit / heure jour le / fecha hora dia / data em / ora giorno / tijd op / czas dnia / дата время / tid / 日期 时间 時間 日付 日時 dato datumu tarih cas تاريخ tarihi',
  happened:
    'activity activities call calls meeting meetings event events sent start done completed happened posted entry task tasks interaction touchpoint log action actions / aktivitat aktivitats aktivitaten anruf termin gesprach aufgabe aufgaben / activite appel reunion tache / actividad llamada reunion tarea / atividade ligacao reuniao tarefa / attivita chiamata riunione appuntamento / activiteit gesprek afspraak taak / aktywnosc rozmowa spotkanie zadanie / активность звонок встреча задача дело / aktivitet samtal mote uppgift / 活动 通话 跟进',
  amount:
    'fee fees premium premiums gebuhr gebuhren honorar pramie honoraires prime honorarios parcella mensalidade amount amounts value price total sum worth size revenue mrr arr budget turnover volume / betrag betrags summe wert umsatz volumen preis erlos / montant valeur prix somme chiffre / monto importe valor precio cuantia suma / montante preco quantia / importo valore prezzo ammontare totale ricavo / bedrag waarde prijs som omzet / kwota wartosc cena suma / сумма стоимость цена бюджет / belopp varde pris summa / 金额 金額 价格 금액 opportunity oppamount tutar belob vaerdi arvo castka hodnota osszeg قيمة مبلغ سعر tutari',
  weighted:
    'weighted expected probable adjusted projected / gewichtet gewichteter gewichtete erwartet / pondere ponderee / ponderado ponderada esperado / / ponderato ponderata atteso / gewogen verwacht / wazona wazony / взвешенная / viktat vagt',
  probability:
    'probability confidence percent percentage likelihood win rate score / wahrscheinlichkeit prozent / probabilite / probabilidad / probabilidade / probabilita / slaagkans / prawdopodobienstwo / вероятность / sannolikhet / 概率 可能性 確度',
  tax: 'tax vat gst ein / steuer mwst ust / tva taxe siret siren / iva impuesto cif nif rfc / imposto cnpj cpf / partita fiscale / btw / podatek nip regon / ндс налог инн / moms skatt',
  cost: 'cost costs paid payment discount coupon commission margin profit balance credit annual / kosten bezahlt rabatt / cout paye remise / costo pagado descuento anuales / custo pago desconto / pagato sconto / betaald korting / koszt zaplacono / скидка оплачено / kostnad betalt',
  count:
    'count quantity qty age days hours duration length sec secs seconds min mins minutes attempts width height order sort position index employees year period / anzahl menge tage alter dauer mitarbeiterzahl / quantite duree / cantidad dias empleados / quantidade metragem / quantita giorni / aantal dagen / liczba ilosc / количество / antal',
  base: 'base converted usdollar home actual original list',
  net: 'net excl excluding ex / netto exkl zzgl / ht hors / neto / liquido / netto / exclusief / netto / нетто / netto',
  gross: 'gross incl including inkl inclusief met / brutto / ttc / bruto / bruto / lordo / bruto / brutto',
  cents:
    'cents cent minor pence subunits micros micro millis / rappen / centimes centime / centimos centavos / / centesimi / / grosze groszy / копейки копеек копейках / / haleru kurus',
  currency:
    'currency curr ccy / wahrung / devise monnaie / moneda divisa / moeda / valuta / munt / waluta / валюта / valuta / 货币 币种 通貨 mena doviz عملة birimi',
  stage:
    'stage phase step milestone / stufe phasen / etape / etapa fase / / stadio / / etap faza / стадия этап / fas steg / 阶段 ステージ フェーズ 進捗 단계 asama faze مرحلة asamasi',
  status:
    'situacion situation status state / zustand stand / statut etat / estado estatus / situacao / stato / / stan / статус состояние / / 状态 durum stav حالة durumu',
  outcome:
    'outcome result disposition won iswon / ergebnis / resultat / resultado / / esito risultato / resultaat / wynik / результат / utfall',
  pipeline:
    'pipeline pipelines funnel process / trichter / entonnoir / embudo / funil / imbuto / trechter / lejek / воронка / tratt / 管道 销售管道',
  title:
    'title subject topic headline caption project what / titel betreff thema projekt / titre objet sujet projet / titulo asunto tema proyecto / assunto projeto / titolo oggetto argomento progetto / onderwerp / tytul temat / тема заголовок / amne rubrik / predmet konu emne / 标题 主题 件名 제목 baslik موضوع konusu',
  job: 'title job role position post occupation salutation department honorific / beruf funktion anrede abteilung / poste fonction civilite / puesto cargo / / ruolo mansione qualifica / functie / stanowisko / должность / befattning / 职位 役職',
  text: 'content body note notes text what said dialog comment comments description message memo remark remarks summary feedback transcript snippet html / inhalt notiz notizen kommentar kommentare bemerkung bemerkungen anmerkung anmerkungen beschreibung nachricht / contenu texte commentaire commentaires remarque remarques observations observation / contenido texto nota notas comentario comentarios observacion observaciones descripcion mensaje / observacao observacoes conteudo anotacao anotacoes descricao mensagem / contenuto testo note commento commenti osservazioni descrizione messaggio / toelichting inhoud tekst notitie notities opmerking opmerkingen omschrijving bericht / tresc tekst notatka notatki komentarz uwagi uwaga opis wiadomosc / текст заметка заметки комментарий примечание описание сообщение / innehall anteckning anteckningar kommentar beskrivning meddelande bemaerkning bemaerkninger merknad megjegyzes / 内容 备注 コメント メモ 메모 notlar 内容 poznamka poznamky ملاحظات ملاحظة تعليق وصف aciklama',
  author:
    'author by creator writer sender who / autor verfasser von / auteur par / / por / autore da / door / przez / автор кем / forfattare av / 作者 作成者 创建人',
  parent:
    'parent related linked regarding target entity resource associated rel bean fk / bezug verknupft zugeordnet / lie associe / relacionado asociado / / collegato associato / gekoppeld / powiazany / связанный / relaterad res',
  type: 'type kind category class module group / typ art / / tipo / / / soort / rodzaj / тип вид / / 类型 種別 نوع model',
  country:
    'country nation countrycode / land staat / pays / pais / / paese nazione / / kraj panstwo / страна / / 国家 国 ulke zeme maa دولة',
  address:
    'address street city town zip postal postcode postalcode region state mailing billing / strasse stadt ort plz postleitzahl adresse / rue ville / calle ciudad direccion / rua cidade endereco cep / citta indirizzo cap / straat stad adres / ulica miasto pocztowy / улица город индекс адрес / gata postnummer / 地址 城市 住所 mesto عنوان مدينة',
  web: 'website url web site domain domains photo image link avatar linkedin facebook twitter / webseite / / sitio dominio / / sito / / strona / сайт / hemsida / 网址',
  reason: 'reason / grund / raison / motivo razon / / / reden / powod / причина / orsak',
  previous:
    'previous prior old former / vorherige / precedent / anterior / / precedente / vorige / poprzedni / предыдущий / foregaende',
  source:
    'source origin channel / quelle herkunft / / origen fuente / origem / fonte origine provenienza / herkomst bron / zrodlo / источник / kalla',
  tag: 'tag tags labels priority tier team teams / prioritat / priorite / prioridad etiqueta / prioridade / priorita / / / / prioritet',
  other:
    'property properties listing listings vehicle vehicles immobilie immobilien fahrzeug fahrzeuge biens inmueble inmuebles propiedad propiedades imovel imoveis immobili panden nieruchomosc nieruchomosci fastighet fastigheter invoice invoices payment payments product products item items lines ticket tickets case cases campaign campaigns quote quotes contract contracts document documents file files attachment attachments subscription subscriptions loan order orders bill bills transaction transactions installment / rechnung rechnungen zahlung produkt produkte artikel bestellung vertrag / facture factures paiement produit commande / factura facturas pago producto productos pedido / fatura pagamento produto / fattura fatture prodotto prodotti ordine contratto / factuur facturen betaling / faktura faktury platnosc / счет счета оплата товар / betalning',
  hash: 'hash token checksum password external utm',
  deleted:
    'deleted trashed removed archived isdeleted isarchived / geloscht archiviert papierkorb / supprime supprimee archive archivee corbeille / eliminado borrado archivado / excluido arquivado lixeira / eliminato archiviato cestinato / verwijderd gearchiveerd / usuniety zarchiwizowany / удален удалено архив архивный / raderad arkiverad / smazano archivovano silindi 削除 アーカイブ 删除 归档',
  primary:
    'primary default main principal / haupt / principal / principal / principal / principale / primair hoofd / glowny glowna / основной / huvud hlavni primaer birincil',
} as const;

export type Concept = keyof typeof WORDS;

/** Words that say nothing: the wrappers of APIs, and articles. */
const EMPTY = new Set(
  'properties property attributes attribute fields field data custom cf hs z c r the of de del della do da di du des la le el den der die das fur for mit z o van het een w i v av for'.split(
    ' ',
  ),
);

/** A header as words in lower case, without accents and punctuation: `ClosedLost-Reason` is `closed lost reason`. */
export function fold(name: string): string {
  return (
    name
      // `IDs` and `URLs` are one word.
      .replace(/\p{Lu}{2,}s(?!\p{Ll})/gu, (word) => ` ${word.toLowerCase()} `)
      .replace(/([\p{Ll}\d])(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1$3 $2$4')
      .normalize('NFKD')
      .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
      .normalize('NFC')
      .toLowerCase()
      .replaceAll('ł', 'l')
      .replaceAll('ø', 'o')
      .replaceAll('æ', 'ae')
      .replaceAll('ı', 'i')
      .replaceAll('ß', 'ss')
      .replace(/\[\d*\]/g, ' ')
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
      .replace(/\b(?:what|who) id\b/g, 'parent id')
      .replace(/\bcompte rendu\b/g, 'commentaire')
      .replace(/\be mail/g, 'email')
      .replace(/\be post\b/g, 'epost')
  );
}

const CONCEPTS = new Map<string, Set<Concept>>();
for (const [concept, words] of Object.entries(WORDS) as [Concept, string][]) {
  for (const word of words.split(/[\s/]+/).filter(Boolean)) {
    const folded = fold(word);
    CONCEPTS.set(folded, (CONCEPTS.get(folded) ?? new Set()).add(concept));
  }
}
/** Of scripts without spaces between words; the longest first. */
const INNER = [...CONCEPTS.keys()].filter((word) => /[\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}]/u.test(word));

/** What the words of a header mean, word by word (a word that is not known has no meaning), and all together. */
export interface Meaning {
  readonly words: readonly ReadonlySet<Concept>[];
  readonly concepts: ReadonlySet<Concept>;
}

export function meaningOf(header: string): Meaning {
  // What stands behind an `@` says how the value is written: `ownerid@FormattedValue`.
  const all = fold(header.replace(/(?<=.)@.*/su, '').replace(/#(?!\d)|№|\bn[°º]/giu, ' number '))
    .split(' ')
    .filter(Boolean);
  const telling = all.filter((word) => !EMPTY.has(word));
  const words = (telling.length > 0 ? telling : all).flatMap(partsOf);
  return { words, concepts: new Set(words.flatMap((each) => [...each])) };
}

/** What one word means, or the known words that it is made of: `erstellungsdatum`, `ownerid`. */
function partsOf(word: string): ReadonlySet<Concept>[] {
  const plain = word.replace(/\d+$/, '');
  const whole =
    CONCEPTS.get(word) ??
    CONCEPTS.get(plain) ??
    CONCEPTS.get(word.replace(/^ال/u, '')) ??
    CONCEPTS.get(singularOf(plain));
  if (whole) return [whole];
  if (/[^\p{Script=Latin}\p{Script=Cyrillic}\d]/u.test(word)) {
    const found = INNER.filter((inner) => word.includes(inner));
    return found.length > 0 ? found.map((inner) => CONCEPTS.get(inner)!) : [NONE];
  }
  for (let at = 3; at <= word.length - 2; at += 1) {
    const [start, rest] = [word.slice(0, at), word.slice(at)];
    const head = CONCEPTS.get(start) ?? CONCEPTS.get(start.replace(/(?:s|en|n)$/, ''));
    const tail = CONCEPTS.get(rest);
    if (head && tail && ((start.length >= 4 && rest.length >= 4) || rest === 'id' || rest === 'by'))
      return [head, tail];
  }
  // Whatever a `Vertragsnummer` counts, it is a number.
  const tail = ENDINGS_OF_COMPOUNDS.find((each) => word.endsWith(each) && word.length >= each.length + 2);
  return tail === undefined ? [NONE] : [NONE, CONCEPTS.get(tail)!];
}

/** `stages`, `statuses`: the name of a file or list is the plural of what is in it. */
function singularOf(word: string): string {
  return word.length < 5 ? word : word.replace(/(?:(?<=[sxz]|ch|sh)es|s)$/, '');
}

/** Words whose meaning is that of the whole compound. */
const ENDINGS_OF_COMPOUNDS = ['nummer', 'datum', 'stufe', 'phase', 'fase', 'betrag', 'bedrag', 'summe'];

const NONE: ReadonlySet<Concept> = new Set();

/** Words of values that say how a deal ended, and that it is still open. */
const ENDS = {
  won: 'won win فوز kazanildi closedwon success successful sold vendida vendido gewonnen gagne gagnee ganado ganada ganho vinto vinta acquisito wygrana wygrany выиграна выигран успешно успешная vunnen vunnet 赢单 成交 受注',
  lost: 'lost loss خسارة kaybedildi closedlost unsuccessful verloren abgelehnt geweigerd perdu perdue perdido perdida perso persa przegrana przegrany utracona проиграна проигран отказ закрытоинереализовано forlorad 输单 失注 junk',
  open: 'open new pending progress active offen laufend ouvert ouverte encours abierto abierta aberto aperto aperta corso otwarta otwarty открыта открыт open oppen pagaende stalled hold abandoned deleted canceled cancelled none',
} as const;
const ENDINGS = new Map(
  (['won', 'lost', 'open'] as const).flatMap((end) => ENDS[end].split(' ').map((word) => [fold(word), end] as const)),
);

/** What a status says of its deal: the first word that says something. */
export function endingOf(value: string): 'won' | 'lost' | 'open' | undefined {
  const words = fold(value).split(' ');
  const found = [...words, words.join('')].flatMap((word) => ENDINGS.get(word) ?? []);
  return found.find((end) => end !== 'open') ?? found[0];
}

/** What the records of a file are called: in file names, in names of arrays, in values of a type column. */
export const NOUNS = {
  lead: ['person', 'customer'],
  deal: ['deal'],
  comment: ['text', 'happened'],
  user: ['user', 'owner'],
  company: ['company'],
  stage: ['stage', 'pipeline', 'status'],
  other: ['other'],
} as const satisfies Readonly<Record<string, readonly Concept[]>>;
export type Noun = keyof typeof NOUNS;

/** The last noun in a name counts: `deal_products`; of a word with several meanings, all. */
export function nounsOf(name: string): readonly Noun[] {
  const tokens = fold(name).split(' ').reverse();
  for (const token of tokens) {
    for (const concepts of partsOf(token).reverse()) {
      const nouns = (Object.keys(NOUNS) as Noun[]).filter((noun) => namesNoun(noun, concepts));
      if (nouns.length > 0) return nouns;
    }
  }
  return [];
}

/** Whether words name such records. */
export function namesNoun(noun: Noun, concepts: ReadonlySet<Concept>): boolean {
  return NOUNS[noun].some((each) => concepts.has(each));
}
