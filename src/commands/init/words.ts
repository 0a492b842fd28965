/**
 * The words of headers, by what they mean. Languages stand in the order
 * en / de / fr / es / pt / it / nl / pl / ru / sv / others and names of APIs.
 * A word is compared as a token of the folded header (lower case, no accents); compounds (`Erstellungsdatum`, `dealname`) are split into
 * known words, and `_` joins the words of a phrase (`khách_hàng`).
 */
const WORDS = {
  id: 'id ids rowid pk uniqueid uuid guid key identifier ref reference kod / kennung / identifiant / identificador clave / chave / identificativo / identificatie / identyfikator klucz / идентификатор ид ключ / identitet / 编号 识别码 αναγνωριστικο azonosito tunniste tunnus 아이디 번호 מזהה mã_khách_hàng mã_kh mã_đơn kode شناسه รหัส šifra sifra',
  number:
    'number no nr num numbers / nummer / numero n / nro / num / numero / nummer / numer lp / номер / nummer / 号码 番号 cislo رقم sira αριθμος sorszam szam numar 번호 stt nomor no_urut broj številka numeris numurs شماره หมายเลข क्रमांक număr',
  name: 'name names label / bezeichnung namen / nom intitule libelle / nombre / nome / denominazione nominativo / naam / nazwa / название наименование / namn benamning / 名称 名前 姓名 名 이름 navn nimi isim jmeno nazev nev adi اسم benaevnelse ονοματεπωνυμο neve ονομα ονομασια megnevezes nume denumire назва nazov nimitys 명칭 성명 名稱 氏名 שם tên nama naziv име имена pavadinimas nosaukums نام ชื่อ नाम họ_và_tên họ_tên nama_lengkap',
  first:
    'first given forename fname firstname / vor vorname / prenom / / / / voor voornaam / imie / имя / fornamn / jmeno fornavn etunimi isim keresztnev prenume 이름 ime vardas vārds eesnimi имe prénom',
  last: 'last latest recent / letzte letzter letztes zuletzt / dernier derniere / ultimo ultima / ultimo ultima / ultimo ultima / laatste laatst / ostatni ostatnia / последний последняя последнее / senaste sista τελευταια utolso viimeinen posledni',
  surname:
    'surname family lname lastname / nach nachname familien familienname / famille / apellido apellidos / sobrenome apelido / cognome / achter achternaam / nazwisko / фамилия / efternamn / 姓 prijmeni etternavn efternavn sukunimi soyadi soyad vezeteknev nume عائلة επωνυμο επιθετο priezvisko прізвище 氏 성 prezime priimek pavardė uzvārds perekonnanimi cognoms cognom نام_خانوادگی นามสกุล उपनाम',
  middle:
    'middle second nick / zweiter / deuxieme / segundo / segundo / secondo / tussen / drugie / отчество / mellan tussenvoegsel',
  full: 'full complete display / voller vollstandiger vollstandige / complet / completo completa / completo / completo / volledige / pelna pelne / полное / fullstandigt ονοματεπωνυμο teljes 성명 họ_và_tên họ_tên nama_lengkap',
  email:
    'email emails mail mails / mailadresse / courriel mel / correo / / posta / mailadres / poczta / почта / epost / 邮箱 电子邮件 电邮 メール 이메일 eposta بريد إلكتروني ηλεκτρονικο sahkoposti пошта 메일 電子郵件 メールアドレス אימייל thư_điện_tử surel имейл el_paštas correu ایمیل อีเมล ईमेल',
  phone:
    'phone phones telephone tel landline / telefon fon festnetz rufnummer / telephone / telefono / telefone fone / telefono / telefoon / telefon / телефон / telefon / 电话 電話 전화 telefonu puhelin هاتف τηλεφωνο τηλ telefonszam puhelinnumero tlf 연락처 전화번호 電話番号 טלפון điện_thoại số_điện_thoại sđt telepon telp telpon no_hp nomor_hp telefonas tālrunis تلفن เบอร์โทร โทรศัพท์ เบอร์ फोन फ़ोन',
  mobile:
    'mobile cell cellphone gsm whatsapp handset sms msisdn / mobil handy / portable / movil celular / celular telemovel / cellulare / mobiel mobiele / komorka komorkowy / мобильный моб / mobil / 手机 携帯 cep جوال موبايل محمول κινητο matkapuhelin 휴대폰 휴대전화 携帯電話 נייד di_động ponsel mobitel mobilni mòbil موبایل มือถือ मोबाइल',
  fax: 'fax / telefax / telecopie / / / / / faks / факс',
  person:
    'guest guests patient patients member members guardian guardians participant participants donor donors holder holders policyholder attendee attendees gast gaste mitglied mitglieder teilnehmer spender patientin membre membres adherent adherents huesped huespedes paciente pacientes miembro miembros socio socios hospede membro membros paziente pazienti ospite ospiti soci deelnemer pacjent pacjenci gosc czlonek пациент гость medlem medlemmar person persons people contact contacts lead leads prospect prospects party individual subscriber / kontakt kontakte ansprechpartner ansprechperson interessent / contact contacts personne prospect interlocuteur interlocuteurs / contacto contactos persona prospecto / contato contatos pessoa pessoas / contatto contatti persona referente anagrafica / contactpersoon contactpersonen persoon / kontakt kontakty osoba osoby / контакт контакты лицо лид лиды / kontakt kontakter person / kontaktni osoba kisi 联系人 联络人 線索 連絡先 شخص 担当者 επαφη επαφες kapcsolattarto kapcsolat yhteyshenkilo henkilo kontaktperson kontaktpersoner người_liên_hệ liên_hệ kontak kontaktna kontaktas',
  customer:
    'customer customers client clients buyer / kunde kunden / client clients / cliente clientes / cliente clientes / cliente clienti / klant klanten / klient klienci klienta / клиент клиенты клиента / kund kunder / 客户 顧客 musteri zakaznik عميل عملاء زبون musteriler πελατης πελατες ugyfel ugyfelek vevo asiakas asiakkaat asiakkaan zakaznici zakaznika klienti kundens клієнт клієнти 고객 고객명 거래처 お客様 得意先 取引先 לקוח לקוחות khách_hàng khách kh pelanggan konsumen klien kupac kupci klijent klijenti stranka stranke naručitelj klientas klientai klients kliendid مشتری ลูกค้า ग्राहक clienți',
  company:
    'workspace workspaces tenant tenants company companies account accounts organization organisation organizations organisations org orgs firm business employer vendor / firma firmen unternehmen organisation gesellschaft / societe entreprise compte raison_sociale / empresa empresas compania organizacion cuenta razon_social / empresas organizacao conta razao_social / azienda aziende societa ditta impresa organizzazione ragione_sociale / bedrijf bedrijven organisatie onderneming / organizacja przedsiebiorstwo / компания компании организация фирма / foretag bolag / 公司 企业 会社 sirket spolecnost شركة مؤسسة εταιρεια εταιρια επωνυμια ceg cegnev vallalat yritys yritykset organizace virksomhed virksomheder bedrift selskap companie компанія компанії 회사 회사명 업체 企業 法人 חברה gesellschaften công_ty doanh_nghiệp perusahaan tvrtka poduzeće preduzeće podjetje įmonė uzņēmums ettevõte شرکت บริษัท कंपनी',
  deal: 'enquiry enquiries inquiry inquiries anfrage anfragen demande demandes consulta consultas solicitud solicitudes richiesta richieste aanvraag aanvragen zapytanie zapytania заявка заявки forfragan forfragningar poptavka poptavky offer offers quote quotes proposal proposals bid bids angebot angebote offerte offerten devis offre offres presupuesto presupuestos propuesta propuestas oferta ofertas proposta propostas orcamento orcamentos preventivo preventivi oferty предложение предложения offert offerter nabidka nabidky teklif teklifler 見積 deal deals opportunity opportunities potential potentials opp opps oppty sale matter matters / geschaft geschafte verkaufschance verkaufschancen chance auftrag auftrage vorgang / affaire affaires opportunite opportunites vente / negocio negocios oportunidad oportunidades trato tratos / negocio negociacao negociacoes oportunidade oportunidades / trattativa trattative affare affari opportunita / kans kansen verkoopkans / szansa szanse transakcja transakcje okazja / сделка сделки / affar affarer affarsmojlighet / 商机 交易 案件 商談 거래 firsat prilezitost pripad pripady صفقة صفقات فرصة فرص firsatlar ευκαιρια ευκαιριες συμφωνια uzlet ugylet lehetoseg mahdollisuus kauppa kaupat myyntimahdollisuus obchod obchody prilezitosti obchodni mulighed muligheder salgsmulighed oportunitate oportunitati vanzare угода угоди 영업기회 עסקה עסקאות hợp_đồng cơ_hội đơn_hàng báo_giá penawaran transaksi peluang pesanan posao ponuda ponude prilika posel ponudba sandoris pasiūlymas darījums piedāvājums tehing pakkumine oportunitat',
  user: 'user users employee employees staff rep reps representative agent agents seller salesperson salesrep consultant member members admin officer advisor adviser broker negotiator recruiter / benutzer mitarbeiter verkaufer vertriebler vertreter aussendienst berater sachbearbeiter / utilisateur commercial vendeur / usuario usuarios vendedor comercial / usuario vendedor / utente utenti venditore commerciale agente operatore / gebruiker gebruikers verkoper medewerker / uzytkownik handlowiec handlowca sprzedawca pracownik / пользователь менеджер сотрудник продавец / anvandare saljare / 用户 销售员 业务员 営業 사용자 obchodnik مندوب موظف temsilci temsilcisi χρηστης χρηστες felhasznalo felhasznalok kayttaja kayttajat uzivatel uzivatele bruger brugere bruker brukere utilizator utilizatori користувач kullanici kullanicilar 직원 社員 ユーザー משתמש nhân_viên nv pegawai karyawan djelatnik zaposlenik zaposleni prodavač prodajalec служител darbuotojas vadybininkas darbinieks töötaja کارشناس พนักงาน พนักงานขาย कर्मचारी',
  owner:
    'owner owners owned assigned assignee responsible manager who / besitzer inhaber verantwortlich verantwortliche verantwortlicher zustandig zustandiger zustandige vertriebsmitarbeiter kundenbetreuer vertriebsbeauftragter betreuer zugewiesen zugewiesener bearbeiter / proprietaire responsable attribue assigne charge / propietario responsable asignado asignada encargado titular / proprietario responsavel atribuido dono / responsabile assegnato assegnatario incaricato / eigenaar verantwoordelijke toegewezen beheerder / wlasciciel opiekun opiekuna prowadzi przypisany odpowiedzialny / ответственный владелец / agare ansvarig tilldelad / 负责人 所有者 担当者 担当 담당자 sorumlu ejer vlastnik vyrizuje مسؤول sorumlusu whose ansvarlig υπευθυνος υπευθυνη πωλητης felelos tulajdonos ertekesito ugyintezo vastuuhenkilo omistaja myyja odpovedny odpovedna obchodnik sælger saelger eier selger proprietar відповідальний менеджер 영업담당 담당자명 소유자 temsilci temsilcisi אחראי vermittler consultor phụ_trách người_phụ_trách nv_phụ_trách penanggung_jawab odgovorna odgovoran odgovorni zadužen skrbnik lastnik vlasnik отговорник atsakingas atbildīgais vastutaja مسئول ผู้รับผิดชอบ responsabil preluat_de suivi_par',
  created:
    'created create creation added add entered inserted opened received registered begin started / erstellt erstellung erstellungs angelegt anlage hinzugefugt erfasst eingang erzeugt / cree creee ajoute ajout saisie / creado creada creacion alta registro / criado criada criacao cadastro adicionado inclusao / creato creata creazione inserito inserimento apertura / aangemaakt gemaakt toegevoegd aanmaak / utworzono utworzenia utworzony dodano dodania zalozenia / создан создана создано создания добавлен / skapad skapades skapat tillagd / 创建 创建时间 作成 登録 cdate oprettet vytvoreno olusturma zalozeno إضافة إنشاء تسجيل kayit sedan since seit depuis desde δημιουργια δημιουργηθηκε καταχωρηση letrehozva letrehozas rogzitve felvetel luotu luontipaiva zalozen pridano opprettet creat adaugat створено 등록일 생성일 작성일 등록 생성 作成日 登録日 受付 נוצר since sinds seit depuis desde ngày_tạo tiếp_nhận dibuat kreirano kreiran izrađeno ustvarjeno ustvarjen създаден създадено sukurta izveidots loodud creată adăugat',
  modified:
    'modified modify modification updated update changed change edited moved / geandert anderung anderungs bearbeitet aktualisiert / modifie modifiee mise maj / modificado modificada modificacion actualizado actualizacion / modificacao atualizado atualizacao alterado / modificato modifica aggiornato aggiornamento / gewijzigd bijgewerkt wijziging / zmodyfikowano modyfikacji zmiany aktualizacji / изменен изменено изменения обновлено / andrad uppdaterad / 修改 更新 mdate udate τροποποιηση ενημερωση modositva modositas frissitve muokattu paivitetty upraveno zmeneno aktualizovano ændret aendret opdateret endret oppdatert modificat actualizat змінено оновлено 수정일 수정 更新日 guncelleme guncellendi degistirme עודכן',
  closed:
    'closed close closing end ended finished lost / abschluss abgeschlossen ende geschlossen gewonnen verloren / cloture fin ferme / cierre cerrado fin / fechamento encerramento fechado ganho / chiusura chiuso fine / afsluit afsluiting afsluitdatum gesloten einde gewonnen verloren / zamkniecia zamkniecie koniec / закрытия закрыта завершения окончания / avslut avslutad stangd slut / closedate edate 成交 κλεισιμο ληξη lezaras lezarva zaras zarasa paattynyt suljettu uzavreno uzavreni ukonceni lukket lukning avsluttet inchidere inchis завершено 마감일 종료일 kapanis bitis kapandi 完了 終了',
  due: 'due deadline expected next scheduled planned forecast reminder follow birthday birth expiry expires valid estimated / fallig falligkeit erwartet erwartetes erwarteter geplant nachste nachster geburtstag geburts wiedervorlage / echeance prevu prevue prochaine naissance / vencimiento previsto prevista esperado esperada proximo proxima nacimiento / vencimento nascimento / scadenza attesa prossimo prossima nascita / verwacht verwachte verval volgende geboorte / oczekiwany oczekiwana planowany nastepny urodzenia / срок ожидаемая ожидаемый следующий рождения / forvantad forvantat nasta fodelse / 预计 到期 予定 nextdate ocekavane ocekavany προθεσμια αναμενομενη αναμενομενο hatarido varhato tervezett erapaiva odotettu termin planovano forventet forfald frist scadenta estimat очікувана 예정일 예정 beklenen vade 予定日 見込',
  date: 'date datetime time at on day timestamp when / datum zeit zeitpunkt tag uhrzeit / heure jour le / fecha hora dia / data em / ora giorno / tijd op / czas dnia / дата время / tid / 日期 时间 時間 日付 日時 dato datumu tarih cas تاريخ tarihi ημερομηνια ημ ωρα datuma ido idopont napja paivamaara pvm aika 날짜 일자 일시 年月日 תאריך ngày thời_gian tanggal tgl waktu kuupäev تاریخ วันที่ तारीख दिनांक dată',
  happened:
    'activity activities call calls meeting meetings event events sent start done completed happened posted entry task tasks interaction touchpoint log action actions / aktivitat aktivitats aktivitaten anruf termin gesprach aufgabe aufgaben / activite appel reunion tache / actividad llamada reunion tarea / atividade ligacao reuniao tarefa / attivita chiamata riunione appuntamento / activiteit gesprek afspraak taak / aktywnosc rozmowa spotkanie zadanie / активность звонок встреча задача дело / aktivitet samtal mote uppgift / 活动 通话 跟进 δραστηριοτητα δραστηριοτητες κληση συναντηση tevekenyseg tevekenysegek hivas talalkozo feladat tapahtuma tapahtumat puhelu tapaaminen tehtava aktivita aktivity schuzka hovor ukol aktiviteter møde moede opkald opgave activitate activitati apel intalnire активність дзвінок зустріч 활동 통화 미팅 상담 etkinlik etkinlikler gorusme gorusmeler toplanti arama faaliyet 活動 対応 履歴 訪問 פעילות פגישה',
  amount:
    'fee fees premium premiums gebuhr gebuhren honorar pramie honoraires prime honorarios parcella mensalidade amount amounts value price total sum worth size revenue mrr arr budget turnover volume / betrag betrags summe wert umsatz volumen preis erlos / montant valeur prix somme chiffre / monto importe valor precio cuantia suma / montante preco quantia / importo valore prezzo ammontare totale ricavo / bedrag waarde prijs som omzet / kwota wartosc cena suma / сумма стоимость цена бюджет / belopp varde pris summa / 金额 金額 价格 금액 opportunity oppamount tutar belob vaerdi arvo castka hodnota osszeg قيمة مبلغ سعر tutari ποσο αξια τιμη ertek erteke ar hinta cenove beløb beloeb verdi valoare pret сума вартість 가격 매출 예상금액 fiyat deger סכום ערך giá_trị số_tiền tổng_tiền thành_tiền doanh_số jumlah nilai harga iznos vrijednost vrednost znesek cijena стойност vertė kaina ยอด มูลค่า จำนวนเงิน राशि मूल्य sumă preț ofertat',
  weighted:
    'weighted expected probable adjusted projected / gewichtet gewichteter gewichtete erwartet / pondere ponderee / ponderado ponderada esperado / / ponderato ponderata atteso / gewogen verwacht / wazona wazony / взвешенная / viktat vagt',
  probability:
    'probability confidence percent percentage likelihood win rate score / wahrscheinlichkeit prozent / probabilite / probabilidad / probabilidade / probabilita / slaagkans / prawdopodobienstwo / вероятность / sannolikhet / 概率 可能性 確度 πιθανοτητα valoszinuseg todennakoisyys pravdepodobnost sandsynlighed sannsynlighet probabilitate ймовірність 확률 olasilik 受注確率 הסתברות',
  tax: 'tax vat gst ein / steuer mwst ust / tva taxe siret siren / iva impuesto cif nif rfc / imposto cnpj cpf / partita fiscale / btw / podatek nip regon / ндс налог инн / moms skatt φπα αφμ afa adoszam alv dph dic ico cvr cui пдв vergi kdv',
  cost: 'cost costs paid payment discount coupon commission margin profit balance credit annual salary wage wages income / kosten bezahlt rabatt gehalt einkommen lohn / cout paye remise salaire / costo pagado descuento anuales salario sueldo / custo pago desconto ordenado / pagato sconto stipendio / betaald korting salaris / koszt zaplacono pensja / скидка оплачено зарплата / kostnad betalt lon',
  count:
    'count quantity qty age days hours duration length sec secs seconds min mins minutes attempts width height order sort position index employees year period / anzahl menge tage alter dauer mitarbeiterzahl / quantite duree / cantidad dias empleados / quantidade metragem / quantita giorni / aantal dagen / liczba ilosc / количество / antal ποσοτητα darab mennyiseg maara pocet mnozstvi cantitate кількість adet 수량 数量',
  wealth:
    'revenue turnover budget annual salary wage wages income balance lifetime ltv spent membership subscription dues donation pension / umsatz jahresumsatz gehalt einkommen lohn kontostand guthaben mitgliedsbeitrag beitrag jahresbeitrag spende / chiffre revenu salaire solde cotisation don / ingresos anuales salario sueldo facturacion saldo cuota presupuesto / faturamento renda ordenado mensalidade / fatturato reddito stipendio quota / omzet inkomen salaris contributie saldo / przychod dochod pensja skladka obrot / оборот доход зарплата выручка взнос бюджет / omsattning inkomst lon medlemsavgift',
  base: 'base converted usdollar home actual original list item items lineitem lineitems unit',
  net: 'net excl excluding ex / netto exkl zzgl / ht hors / neto imponible / liquido / netto imponibile / exclusief zonder / netto / нетто / netto',
  gross: 'gross incl including inkl inclusief met / brutto / ttc / bruto / bruto / lordo / bruto / brutto',
  cents:
    'cents cent minor pence pennies subunits micros micro millis / rappen / centimes centime cts ctms / centimos centavos / / centesimi / / grosze groszy / копейки копеек копейках / / haleru kurus',
  currency:
    'currency curr ccy / wahrung / devise monnaie / moneda divisa / moeda / valuta / munt / waluta waluty / валюта / valuta / 货币 币种 通貨 mena doviz عملة birimi νομισμα penznem deviza valuutta menova 화폐 通貨単位 מטבע tiền_tệ mata_uang валута valūta',
  stage:
    'stage phase step milestone / stufe phasen / etape / etapa fase / estagio / stadio / / etap etapu faza / стадия этап этапа / fas steg / 阶段 ステージ フェーズ 進捗 단계 asama faze مرحلة asamasi skede σταδιο φαση szakasz fazis vaihe stadiu етап стадія 영업단계 フェイズ 段階 商談ステージ שלב giai_đoạn tahap tahapan korak etapas posms etapp مرحله ขั้นตอน चरण',
  status:
    'situacion situation status state / zustand stand / statut etat / estado estatus / situacao / stato / / stan statusu / статус статуса состояние / / 状态 durum stav stavu حالة durumu κατασταση allapot statusz tila stare situatia стан 상태 ステータス 状態 סטטוס מצב tình_trạng trạng_thái stanje būsena statuss olek staatus وضعیت สถานะ स्थिति stadiu',
  outcome:
    'outcome result disposition won iswon / ergebnis / resultat / resultado / / esito risultato / resultaat / wynik / результат / utfall αποτελεσμα eredmeny tulos vysledek rezultat sonuc 결과 結果 勝敗',
  pipeline:
    'pipeline pipelines funnel process / trichter vertriebsprozess / entonnoir pipe / embudo / funil / imbuto / trechter / lejek proces / воронка / tratt / 管道 销售管道 αγωγος ertekesitesi tolcser myyntiputki 파이프라인 パイプライン',
  title:
    'title subject topic headline caption project what job jobs / titel betreff thema projekt / titre objet sujet projet / titulo asunto tema proyecto / assunto projeto / titolo oggetto argomento progetto / onderwerp / tytul temat / тема заголовок / amne rubrik / predmet konu emne / 标题 主题 件名 제목 baslik موضوع konusu τιτλος θεμα εργο targy cim otsikko aihe nazov titlu subiect 건명 案件名 商談名 題名 タイトル נושא כותרת tiêu_đề nhu_cầu chủ_đề judul naslov заглавие pealkiri títol عنوان หัวข้อ शीर्षक',
  job: 'title job role position post occupation salutation department honorific / beruf funktion anrede abteilung / poste fonction civilite / puesto cargo / / ruolo mansione qualifica / functie / stanowisko / должность / befattning / 职位 役職 θεση beosztas titteli funkce pozice stilling 직책 직위 unvan gorev 部署 部署名 部門 職種 job_title job_role job_function job_position chức_vụ jabatan длъжност radno_mjesto',
  text: 'content body note notes text what said dialog comment comments description message memo remark remarks summary feedback transcript snippet html / inhalt notiz notizen kommentar kommentare bemerkung bemerkungen anmerkung anmerkungen beschreibung nachricht / contenu texte commentaire commentaires remarque remarques observations observation / contenido texto nota notas comentario comentarios observacion observaciones descripcion mensaje / observacao observacoes conteudo anotacao anotacoes descricao mensagem / contenuto testo note commento commenti osservazioni descrizione messaggio / toelichting inhoud tekst notitie notities opmerking opmerkingen omschrijving bericht / tresc tekst notatka notatki komentarz uwagi uwaga opis wiadomosc / текст заметка заметки комментарий примечание описание сообщение / innehall anteckning anteckningar notering noteringar kommentar beskrivning meddelande bemaerkning bemaerkninger merknad megjegyzes / 内容 备注 コメント メモ 메모 notlar 内容 poznamka poznamky ملاحظات ملاحظة تعليق وصف aciklama σημειωση σημειωσεις παρατηρηση παρατηρησεις σχολιο σχολια περιγραφη κειμενο megjegyzesek jegyzet leiras szoveg muistiinpano muistiinpanot kommentti kuvaus huomautus komentar popis bemærkning notat observatii descriere примітка коментар опис 내용 비고 詳細 備考欄 הערה הערות תיאור yorum yorumlar mesaj annotazione annotazioni ghi_chú nội_dung trao_đổi mô_tả bình_luận catatan keterangan pesan bilješka bilješke napomena opomba opombe beleška бележка бележки pastaba pastabos komentaras piezīme piezīmes komentārs märkus märkused kommentaar comentari توضیحات یادداشت หมายเหตุ บันทึก टिप्पणी observații obs comentariu mențiuni compte_rendu',
  author:
    'author by creator writer sender who / autor verfasser von / auteur par / / por / autore da / door / przez / автор кем / forfattare av / 作者 作成者 创建人 συντακτης szerzo keszitette rogzitette tekija kirjoittaja forfatter 작성자 등록자 記入者 登録者 yazan olusturan כותב người_tạo người_gọi người_ghi oleh pembuat',
  parent:
    'parent related linked regarding target entity resource associated rel bean fk / bezug verknupft zugeordnet / lie associe / relacionado asociado / / collegato associato / gekoppeld / powiazany / связанный / relaterad res',
  type: 'type kind category class module group / typ art / / tipo / / / soort / rodzaj / тип вид / / 类型 種別 نوع model τυπος κατηγορια ειδος tipus fajta tyyppi laji druh tip 유형 종류 구분 種類 סוג loại jenis vrsta',
  country:
    'country nation countrycode / land staat / pays / pais / / paese nazione / / kraj panstwo / страна / / 国家 国 ulke zeme maa دولة χωρα orszag tara 국가 מדינה',
  address:
    'address street city town zip postal postcode postalcode region state mailing billing / anschrift strasse stadt ort plz postleitzahl adresse / rue ville / calle ciudad direccion / rua cidade endereco cep / citta indirizzo cap / straat stad adres / ulica miasto miejscowosc pocztowy / улица город индекс адрес / gata postnummer / 地址 城市 住所 mesto عنوان مدينة διευθυνση πολη οδος cim utca varos iranyitoszam osoite kaupunki postinumero adresa ulice psc oras strada sehir ilce 주소 도시 都道府県 市区町村 郵便番号 כתובת עיר địa_chỉ khu_vực thành_phố alamat kota grad mjesto adresas miestas adrese pilsēta aadress linn adreça ciutat آدرس شهر ที่อยู่ पता शहर localitate oraș județ',
  web: 'website url web site domain domains photo image link avatar linkedin facebook twitter / webseite / / sitio dominio / / sito / / strona / сайт / hemsida / 网址',
  reason:
    'reason / grund / raison / motivo razon / / / reden / powod / причина / orsak λογος oka syy duvod motiv neden 사유 理由 lý_do alasan razlog',
  previous:
    'previous prior old former / vorherige / precedent / anterior / / precedente / vorige / poprzedni / предыдущий / foregaende',
  source:
    'source origin channel / quelle herkunft / / origen fuente / origem / fonte origine provenienza / herkomst bron / zrodlo / источник / kalla πηγη forras lahde zdroj kilde sursa kaynak 출처 流入元 nguồn sumber izvor vir sursă šaltinis',
  tag: 'tag tags labels priority tier team teams / prioritat / priorite / prioridad etiqueta / prioridade / priorita / / / / prioritet',
  other:
    'property properties listing listings vehicle vehicles immobilie immobilien fahrzeug fahrzeuge biens inmueble inmuebles propiedad propiedades imovel imoveis immobili panden nieruchomosc nieruchomosci fastighet fastigheter invoice invoices payment payments product products item items lines ticket tickets case cases campaign campaigns contract contracts document documents file files attachment attachments subscription subscriptions loan order orders bill bills transaction transactions installment / rechnung rechnungen zahlung produkt produkte artikel bestellung vertrag / facture factures paiement produit commande / factura facturas pago producto productos pedido / fatura pagamento produto / fattura fatture prodotto prodotti ordine contratto / factuur facturen betaling / faktura faktury platnosc / счет счета оплата товар / betalning τιμολογιο προϊον προϊοντα szamla termek termekek lasku tuote tuotteet produkty produs urun 제품 商品 請求 見積 lineitem lineitems emergency nood notfall urgence emergencia emergenza',
  payment:
    'payment payments transaction transactions installment charge charges refund refunds payout payouts lineitem lineitems / zahlung zahlungen / paiement paiements / pago pagos / pagamento pagamentos / pagamenti / betaling betalingen / platnosc platnosci / оплата платежи / платеж',
  hash: 'hash token checksum password external utm',
  deleted:
    'deleted trashed removed archived isdeleted isarchived / geloscht archiviert papierkorb / supprime supprimee archive archivee corbeille / eliminado borrado archivado / excluido arquivado lixeira / eliminato archiviato cestinato / verwijderd gearchiveerd / usuniety zarchiwizowany / удален удалено архив архивный / raderad arkiverad / smazano archivovano silindi 削除 アーカイブ 删除 归档 διαγραμμενο torolt poistettu slettet sters 삭제',
  primary:
    'primary default main principal / haupt / principal / principal / principal / principale / primair hoofd / glowny glowna / основной / huvud hlavni primaer birincil κυριο elsodleges ensisijainen primar primær 주요',
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
      .replace(/(\p{Script=Latin}|\p{Script=Greek})\p{M}+/gu, '$1')
      .normalize('NFC')
      .toLowerCase()
      .replaceAll('ł', 'l')
      .replaceAll('đ', 'd')
      .replaceAll('ø', 'o')
      .replaceAll('æ', 'ae')
      .replaceAll('ı', 'i')
      .replaceAll('ς', 'σ')
      .replaceAll('ß', 'ss')
      .replace(/\[\d*\]/g, ' ')
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
      .trim()
      .replace(/\b(?:what|who) id\b/g, 'parent id')
      .replace(/\bplain text\b/g, ' ')
      .replace(/\buser agent\b/g, 'browser')
      .replace(/^summary$/, 'subject')
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
const INNER = [...CONCEPTS.keys()].filter((word) =>
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}\p{Script=Thai}]/u.test(word),
);
const PHRASES = [...CONCEPTS.keys()].filter((word) => word.includes(' ')).sort((a, b) => b.length - a.length);
const WORD = new RegExp(`(?<!\\S)(?:${PHRASES.join('|')})(?!\\S)|\\S+`, 'gu');

/** The words and known phrases of a folded header. */
function wordsIn(folded: string): string[] {
  return folded.match(WORD) ?? [];
}

/** What the words of a header mean, word by word (a word that is not known has no meaning), and all together. */
export interface Meaning {
  readonly words: readonly ReadonlySet<Concept>[];
  readonly concepts: ReadonlySet<Concept>;
}

export function meaningOf(header: string): Meaning {
  // What stands behind an `@` says how the value is written: `ownerid@FormattedValue`.
  const all = wordsIn(fold(header.replace(/(?<=.)@.*/su, '').replace(/#(?!\d)|№|\bn[°º]/giu, ' number ')));
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
    const inner = INNER.filter((each) => word.includes(each));
    const found = inner.filter((each) => !inner.some((longer) => longer !== each && longer.includes(each)));
    return found.length > 0 ? found.map((each) => CONCEPTS.get(each)!) : [NONE];
  }
  for (let at = 3; at <= plain.length - 2; at += 1) {
    const [start, rest] = [plain.slice(0, at), plain.slice(at)];
    const head = CONCEPTS.get(start) ?? CONCEPTS.get(start.replace(/(?:s|en|n)$/, ''));
    const tail = CONCEPTS.get(rest);
    if (head && tail && ((start.length >= 4 && rest.length >= 4) || ['id', 'by', 'on', 'at'].includes(rest)))
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
  won: 'won win فوز kazanildi closedwon success successful sold vendida vendido gewonnen gescoord gagne gagnee ganado ganada ganho vinto vinta acquisito wygrana wygrany выиграна выигран успешно успешная vunnen vunnet 赢单 成交 受注 κερδηθηκε megnyert elnyert nyert voitettu vyhrano vyhrana vyhran vyhra uspesny uspesne realizovano zlecone ziskano vundet castigat castigata виграно 성사 수주 계약완료 成約 kazanilan accettato accettata policiert aceite aceito chốt thành_công đã_ký menang berhasil dobiveno dobijeno dobljeno спечелена спечелен laimėta câștigat',
  lost: 'lost loss خسارة kaybedildi closedlost unsuccessful verloren abgelehnt geweigerd perdu perdue perdido perdida perso persa przegrana przegrany utracona проиграна проигран отказ закрытоинереализовано forlorad 输单 失注 junk χαθηκε απορριφθηκε elveszett elvesztett elutasitva havitty prohrano prohrana prohra neuspesny neuspesne nerealizovano odrzucone ztraceno odmitnuto tabt tapt pierdut pierduta програно 실패 실주 kaybedilen אבוד rifiutato rifiutata storniert recusada recusado hủy thất_bại từ_chối kalah gagal batal izgubljeno загубена загубен pralaimėta',
  open: 'open new pending progress active offen laufend ouvert ouverte encours abierto abierta aberto aperto aperta corso otwarta otwarty открыта открыт open oppen pagaende stalled hold abandoned deleted canceled cancelled none νεο ανοιχτο ανοικτο uj nyitott folyamatban avoin uusi kesken otevreno otevrena novy nova aben apen ny deschis nou yeni acik відкрита нова 신규 진행중 進行中 新規 mới baru novo нова în_lucru',
} as const;
const ENDINGS = new Map(
  (['won', 'lost', 'open'] as const).flatMap((end) =>
    ENDS[end].split(' ').map((word) => [fold(word).replaceAll(' ', ''), end] as const),
  ),
);

/** What a status says of its deal: the first word that says something. */
export function endingOf(value: string): 'won' | 'lost' | 'open' | undefined {
  const words = fold(value).split(' ');
  const found = [...words, words.join('')].flatMap((word) => ENDINGS.get(word) ?? []);
  return found.find((end) => end !== 'open') ?? found[0];
}

/** Words of values that are jobs or the titles of persons; `*` stands for any letters. */
const JOBS =
  'ceo cfo cto coo cmo cio vp svp evp mr mrs ms dr prof manager managing director chief head president founder cofounder owner lead engineer developer analyst consultant assistant secretary officer administrator accountant buyer supervisor coordinator specialist technician architect teacher nurse doctor lawyer partner adviser advisor clerk operator designer controller foreman executive representative agent / herr frau geschaftsfuhrer* *leiter *leiterin inhaber* *ingenieur* entwickler* berater* *assistent* sekretar* einkaufer* *techniker* lehrer* vorstand* prokurist* buchhalter* *fuhrer* / m mme monsieur madame direct* gerant* chef cheffe responsable ingenieur* acheteu* assistante charge chargee comptable / sr sra gerente* jefe jefa ingenier* comprador* encargad* administrativ* / diretor* engenheir* socio* / direttor* responsabile titolare ingegner* impiegat* / dhr mevr directeur bedrijfsleider inkoper hoofd medewerker eigenaar / kierownik* dyrektor* prezes* specjalist* wlasciciel* / директор менеджер инженер руководитель специалист бухгалтер начальник / vd chef ansvarig direktor* mudur* reditel* jednatel* vezeto* igazgato* johtaja* toimitusjohtaja';
const JOB = new RegExp(
  `^(?:${JOBS.split(/[\s/]+/)
    .join('|')
    .replaceAll('*', '\\p{L}*')})$`,
  'u',
);

export function isJob(value: string): boolean {
  return fold(value)
    .split(' ')
    .some((word) => JOB.test(word));
}

/** `Subtotal North`, `Zwischensumme`, `Σ`. */
const SUBTOTAL =
  /^(?:σ|(?:grand |sub ?)?totals?|sum|summe|zwischensumme|teilsumme|gesamt(?:summe)?|sous total|somme|suma|soma|subtotale|totale|totaal|subtotaal|tussentotaal|razem|lacznie|итого|всего|подытог|summa|delsumma|i alt|(?:ara |genel )?toplam|celkem|mezisoucet|osszesen|yhteensa)(?: |$)/u;

export function isSubtotal(value: string): boolean {
  return SUBTOTAL.test(fold(value));
}

/** How many words or letters some texts have in common at their start, and at their end. `rest`: how many each keeps. */
export function commonEnds(texts: readonly (readonly string[])[], rest = 0): { start: number; end: number } {
  const isCommon = (at: number): boolean => texts.every((own) => own.at(at) === texts[0]!.at(at));
  const most = Math.min(...texts.map(({ length }) => length)) - rest;
  let [start, end] = [0, 0];
  while (start < most && isCommon(start)) start += 1;
  while (end < most - start && isCommon(-1 - end)) end += 1;
  return { start, end };
}

/** Texts that mean "no value" wherever they stand. */
export const NO_VALUE: readonly string[] = [
  '\\N',
  'NULL',
  'null',
  '(null)',
  '<null>',
  'N/A',
  'n/a',
  '#N/A',
  '#VALUE!',
  '#REF!',
  '#DIV/0!',
  '#NAME?',
  '#NUM!',
  '(none)',
  '-None-',
  'TBD',
  'tbd',
  'TBA',
  'tba',
  'TBC',
  'tbc',
  'NaN',
  'nan',
  '0000-00-00',
  '0000-00-00 00:00:00',
];

/** What the records of a file are called: in file names, in names of arrays, in values of a type column. */
export const NOUNS = {
  lead: ['person', 'customer'],
  deal: ['deal'],
  comment: ['text', 'happened'],
  user: ['user', 'owner'],
  company: ['company'],
  stage: ['stage', 'pipeline', 'status'],
  other: ['other'],
  payment: ['payment'],
} as const satisfies Readonly<Record<string, readonly Concept[]>>;
export type Noun = keyof typeof NOUNS;

/** The last noun in a name counts: `deal_products`; of a word with several meanings, all. */
export function nounsOf(name: string): readonly Noun[] {
  const tokens = wordsIn(fold(name)).reverse();
  // A table of types has none of the records.
  if (tokens.length > 1 && CONCEPTS.get(singularOf(tokens[0]!))?.has('type')) return ['other'];
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
