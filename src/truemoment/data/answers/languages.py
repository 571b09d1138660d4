"""Words of other languages, with what they mean in the English of the reader.

A line of a table is ``meaning: words``. A word is a part of a pattern; `_` is a blank, and a final `@` means "before a
time". A language that is `glued` has no blanks between its words, and its units count only after a number.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

LETTER = r"[^\W\d_]|[\u0900-\u0963\u064b-\u065f]"
"""A letter, or a vowel sign, which belongs to a word as well."""
BEGINS = r"(?<![^\W\d_])(?<![\u0900-\u0963\u064b-\u065f])"
ENDS = rf"(?!{LETTER})"
BEFORE_A_TIME = r"(?=[ :]{0,2}(?:[^\W\d_\n]{1,10} ){0,2}第?[\d零〇一二两兩三四五六七八九十百])"


@dataclass(frozen=True)
class Language:
    """How a language is known, and its words.

    Parameters
    ----------
    signs
        Words that an English text does not have.
    units
        Units of time, after a number (or before it).
    words
        All other words.
    script
        First and last letter of its script, if it has one of its own.
    glued
        Whether words are written without blanks between them.
    """

    signs: str
    units: str
    words: str
    script: tuple[str, str] | None = None
    glued: bool = False

    def is_written_in(self, letters: str) -> bool:
        """Whether some letters beyond ASCII are of the script of the language."""
        return self.script is not None and any(self.script[0] <= letter <= self.script[1] for letter in letters)

    def n_signs(self, words: Collection[str]) -> int:
        """Number of the words that only this language has, among some small words."""
        return len(frozenset(self.signs.split()).intersection(words))

    def meanings(self) -> list[tuple[str, str]]:
        """Return (pattern, meaning) of each word."""
        begins, ends = ("", "") if self.glued else (BEGINS, ENDS)
        unit_begins = r"(?<=[\d.])\s?" if self.glued else BEGINS
        return [
            *((f"{unit_begins}{word}{ends}", meaning) for word, meaning in _lines(self.units)),
            *(
                (f"{begins}{word.removesuffix('@')}{ends}{BEFORE_A_TIME if word.endswith('@') else ''}", meaning)
                for word, meaning in _lines(self.words)
            ),
        ]


def _lines(table: str) -> list[tuple[str, str]]:
    """Return (word, meaning) of each word of a table."""
    split = [line.split(":", 1) for line in table.strip().splitlines()]
    return [
        (word.replace("_", " "), meaning.strip().replace("_", " "))
        for meaning, words in split
        for word in words.split()
    ]


CHINESE = Language(
    "",
    r"""
    frame: 帧
    seconds: 秒钟? 秒鐘
    minutes: 分钟? 分鐘
    minutes_30_seconds: 分钟?半
    hours: 个?小时 個?小時 时(?=\d)
    """,
    r"""
    from: 从@ 從@ 自@
    to: 到@ 至@ [在于](?=\s?第?[\d.:]+秒?(?:左右|处)?结束)
    to: 和(?=[^,.，。和]{1,12}之[间間]) 与(?=[^,.，。与]{1,12}之[间間])
    and: 和 以及 以及 并且
    at: 第(?=\s?[\d.]+\s?(?:秒|分)) 在(?=\s?第?\d)
    second: 第(?=\d{1,5}\s?(?:[,到至-]|\Z))
    to_the_end: [到至](?:视频)?(?:结尾|最后|结束)
    from_the_beginning_to: 从(?:视频)?(?:头|开头|开始)[到至]@
    or: 或者?
    start: (?<!秒)(?<!左右)(?<!时)(?<!处)(?:开始|開始) 起始 起点
    end: 结束 終止 终止 結束 截止 終了
    time: 时间 時間
    answer: 答案[是为]?
    does_not_occur: 没有 沒有 未出现 不存在 未发生 没出现 不出现 找不到 未检测到 未发现
    i_am_sorry: 无法 抱歉 不能观看 無法
    approximately: 大约 大約 约 左右 大概
    lasts: 持续了?(?![到至]) 持續了?(?![到至]) 历时 长达
    not: 不是 并非 不在
    opening_hours: 营业时间 開放時間 开放时间
    every: 每隔?(?=\s?\d)
    score: 比分 得分 价格 温度
    length: 总长度? 总时长 時長 时长 全长 长度 總長
    cook: 煮 炖 烤 焖 蒸 腌
    takes: 用时 耗时 花费 等了 等待了 需要(?=\s?\d)
    does_not_occur: 未找到 没找到 未能找到 未显示 未见 没见到 没看到
    long: (?<=秒)长
    first_time: 第[一1]次
    second_time: 第[二2]次
    third_time: 第[三3]次
    """,
    glued=True,
    script=("\u4e00", "\u9fff"),
)
JAPANESE = Language(
    "",
    r"""
    frame: フレーム
    seconds: 秒間?
    minutes: 分間?
    hours: 時間
    """,
    r"""
    from_the_beginning_to: (?:最初|冒頭)から@
    to_the_end: から(?:動画の)?(?:最後|終わり)まで
    to: から(?=[^\n。]{0,12}\d)
    to: と(?=[^\n。と]{1,12}の間)
    start: 開始 始まり(?=[^\d\n]{0,8}:)
    end: 終了 終わり(?=[^\d\n]{0,8}:)
    answer: 答え 回答
    does_not_occur: ありません 映っていません 起こりません 現れません 存在しません 見られません
    does_not_occur: 起きません 見当たりません
    i_am_sorry: 申し訳 できません
    approximately: 約 およそ 頃
    long: (?:ほど)?(?:続き|続く|継続)
    long: (?:ほど)?(?:煮|焼|待)
    is_not_it: ではなく
    score: スコア 得点 点数 価格 温度
    length: 長さ 尺は
    long: (?:ほど|くらい|ぐらい)?かか
    does_not_occur: 見つかりません 見つけられません 含まれていません 登場しません 映りません
    nobody: 誰も
    """,
    glued=True,
    script=("\u3040", "\u30ff"),
)
KOREAN = Language(
    "",
    r"""
    frame: 번?_?프레임
    seconds: 초
    minutes: 분
    hours: 시간
    """,
    r"""
    to: 부터(?=[^\n.]{0,12}\d) (?<=[초분])에서(?=[^\n.]{0,12}\d) [와과](?=[^\n.]{1,12}사이)
    from_the_beginning_to: (?:처음|시작)부터@
    to_the_end: (?:부터|에서)?_?(?:영상)?_?끝까지
    or: 또는
    start: (?<!초에)(?<!초에_)(?<![경쯤]에)(?<![경쯤]에_)(?<!에서)(?<!에서_)시작(?=[^\d\n]{0,8}(?::|은|는|\d)) 시작(?=:)
    end: 종료(?=[^\d\n]{0,8}(?::|은|는|\d))
    answer: 정답은? 답변
    does_not_occur: 않습니다 않는다 없습니다 없음 않음
    i_cannot_watch: 수_없습니다
    i_am_sorry: 죄송
    approximately: 약(?=\s?\d) (?<=초)(?:경|쯤)
    long: (?:_?동안)?_?(?:지속|이어|계속)
    is_not_it: [이가]?_?아니라 [이가]?_?아닙니다
    score: 점수 스코어 가격 온도
    length: 길이
    long: (?:_?정도)?_?걸[리립]
    does_not_occur: 나오지_않 보이지_않 찾을_수_없
    nobody: 아무도
    """,
    glued=True,
    script=("\uac00", "\ud7a3"),
)
SPANISH = Language(
    """nadie segundo segundos desde hasta entre comienza empieza inicio ocurre aparece ningún ningun siento puedo
    el los una está es durante respuesta dura escena evento""",
    r"""
    frame: fotogramas? cuadros? quadros?
    second: segundo
    seconds: segundos seg
    minute: minuto
    minutes: minutos
    hours: horas?
    """,
    r"""
    from_the_beginning_to: desde_el_(?:principio|inicio|comienzo)_hasta
    to_the_end: hasta_el_final?
    from: desde del@ de@
    to: hasta a@ al@
    between: entre
    and: y
    or: o@
    start: comienza empieza inicia inicio comienzo empezando
    end: termina finaliza acaba fin final terminando
    answer: respuesta
    the: el la los las
    approximately: aproximadamente unos alrededor_de
    does_not_occur: no_(?:se_)?(?:aparece|ocurre|sucede|ve|muestra|hay|existe|produce) ning[uú]na? ning[uú]n_momento
    i_cannot_watch: no_puedo
    i_am_sorry: lo_siento
    lasts: duran? durando
    lasts_until: dura(?=_hasta)
    not: no(?:_(?:es|est[aá]|va|ocurre|sucede))?(?=_(?:de|desde|entre|del)_)
    counts: cuentan? contando
    every: cada
    after_the: despu[eé]s_del?
    before_the: antes_del?
    score: marcador puntuaci[oó]n resultado precio temperatura
    does_not_occur: no_est[aá]_presente
    length: duraci[oó]n
    cook: cocer cocinar? cocine hornea[r]? hierv[ae] hervir reposar
    takes: tarda tardan toma
    start: arranca comenzando
    end: concluye t[eé]rmino conclusi[oó]n desaparece acabando
    does_not_occur: no_se_(?:encontr[oó]|encuentra) no_encuentro no_encontr[eé] no_(?:contiene|figura)
    does_not_occur: no_(?:est[aá]|sale)_en
    nobody: nadie
    """,
)
PORTUGUESE = Language(
    "ninguém segundo segundos entre começa início até não uma os cena vídeo evento dura consigo",
    SPANISH.units,
    r"""
    from_the_beginning_to: d(?:esd)?[eo]_(?:o_)?in[ií]cio_at[eé](?:_aos?)?
    to_the_end: at[eé]_[ao]o?_(?:fim|final)
    from: desde do@ de@ dos@ das@ da@
    to: at[eé]_aos@ at[eé]_ao@ at[eé] a@ ao@ aos@ à@ às@
    between: entre
    and: e@
    or: ou@
    start: come[cç]a inicia in[ií]cio come[cç]ando come[cç]o
    end: termina acaba fim terminando
    answer: resposta
    the: os as
    th: (?<=\d)[ºª°]
    to: (?<=\d)[ºª]_ao@
    approximately: aproximadamente cerca_de
    does_not_occur: n[aã]o_(?:se_)?(?:aparece|ocorre|acontece|h[aá]|existe|est[aá]|mostra) nenhuma?
    i_am_sorry: desculpe sinto_muito
    lasts: duram? durando
    not: n[aã]o(?:_(?:[eé]|est[aá]|vai|ocorre))?(?=_(?:de|do|entre|dos)_)
    counts: contam? contando
    every: cada
    after_the: depois_d[eoa] ap[oó]s_[oa]
    before_the: antes_d[eoa]
    i_cannot_watch: n[aã]o_(?:consigo|posso|sou_capaz)
    score: placar pontua[cç][aã]o resultado pre[cç]o temperatura
    length: dura[cç][aã]o
    cook: cozinh[ea]r? ass[ae]r? ferv[ae] descansar
    takes: leva demora
    end: t[eé]rmino conclui encerra acabando
    does_not_occur: n[aã]o_(?:foi_encontrad[oa]|encontrei|consta|cont[eé]m|ocorre|surge|vejo)
    nobody: ningu[eé]m
    """,
)
FRENCH = Language(
    "personne seconde secondes entre début à apparaît vidéo aucun aucune scène dure pas les une est événement jusqu",
    r"""
    frame: trames? images?
    second: seconde
    seconds: secondes
    minutes: minutes?
    hours: heures?
    """,
    r"""
    from_the_beginning_to: du_d[eé]but_(?:jusqu'à|à)
    to_the_end: jusqu'à_la_fin
    from: depuis de@ du@ des@
    to: à@ jusqu'à jusqu'au au@
    between: entre
    and: et
    or: ou@
    start: commence d[eé]bute d[eé]but
    end: se_termine termine finit fin
    answer: r[eé]ponse
    the: le la les
    th: (?<=\d)(?:e|er|re|nde|i?[eè]me)
    approximately: environ
    does_not_occur: n'appara[iî]t_pas n'a_pas_lieu n'est_pas ne_se_produit_pas n'y_a_pas aucune? n'existe_pas
    i_am_sorry: d[eé]sol[eé]
    lasts: dur(?:e|ent|ant|era)
    not: pas(?=_(?:de|entre|du|à)_)
    counts: compten?t?
    every: tou(?:te)?s_les
    after_the: apr[eè]s_l[ea]
    before_the: avant_l[ea]
    i_cannot_watch: ne_(?:peux|suis)_pas
    score: score prix temp[eé]rature
    length: dur[eé]e
    cook: cuire cuisson mijoter reposer bouillir
    takes: prend
    end: s'ach[eè]ve conclut cesse
    does_not_occur: n'ai_pas_trouv[eé] introuvable ne_(?:figure|contient|montre|vois)_pas
    does_not_occur: n'y_a_aucune? n'est_pas_(?:pr[eé]sente?|visible)
    nobody: personne(?:_ne|_n')
    """,
)
GERMAN = Language(
    """niemand sekunde sekunden bis zwischen beginnt ende ereignis kein keine der das und ist oder nicht ich szene
    dauert sehen eine wird""",
    r"""
    frame: bild(?:er)? einzelbild(?:er)?
    second: sekunde
    seconds: sekunden sek
    minutes: minuten?
    hours: stunden?
    """,
    r"""
    from_the_beginning_to: vom?_(?:anfang|beginn)(?:_an)?_bis
    to_the_end: bis_zum_ende
    from: von@ ab@
    to: bis_zur@ bis_zum@ bis
    between: zwischen
    and: und
    or: oder
    start: beginn beginnt startet anfang
    end: ende endet
    answer: antwort
    the: der die das den
    approximately: etwa ungef[aä]hr circa
    does_not_occur: nicht_(?:vor|zu_sehen|statt|gezeigt|enthalten|sichtbar) kein(?:e[nmrs]?)?
    i_am_sorry: tut_mir_leid entschuldigung
    lasts: dauern?t? dauernd
    not: nicht
    counts: z[aä]hl(?:e?n|t)
    every: alle
    after_the: nach_de[mrn]
    before_the: vor_de[mrn]
    i_cannot_watch: kann_(?:ich_)?(?:leider_)?(?:das_|dieses_|die_)?(?:keine|nicht|video_nicht|videos_nicht)
    the: dem
    score: spielstand punktestand preis temperatur
    long: lang
    length: dauer l[aä]nge
    cook: kochen backen ruhen köcheln braten garen
    takes: braucht
    start: startzeit anfangszeit beginnend
    end: endzeit schluss endend h[oö]rt_auf
    does_not_occur: nicht_(?:gefunden|finden|auf|dargestellt|erkennbar)
    does_not_occur: (?:passiert|geschieht|kommt|erscheint)_[a-z_]{0,30}nicht(?!_nur)
    nobody: niemand keiner
    """,
)
ITALIAN = Language(
    "nessuno secondo secondi inizia fino finisce nessun nessuna scena dura uomo il della è sono evento persone dal",
    r"""
    frame: fotogramm[ai]
    second: secondo
    seconds: secondi
    minute: minuto
    minutes: minuti
    hours: or[ae]
    """,
    r"""
    from_the_beginning_to: dall'inizio_(?:fino_)?al?
    to_the_end: fino_alla_fine
    from: da@ dal@ dai@ dalle@
    to: fino_a@ fino_al@ a@ al@ ai@ alle@
    between: tra fra
    and: e@ ed@
    or: o@
    start: inizia inizio comincia
    end: finisce termina la_fine fine:
    answer: risposta
    the: il lo gli i@
    approximately: circa
    does_not_occur: non_(?:si_)?(?:verifica|appare|compare|accade|vede|c'è|esiste) nessun[oa]?
    i_am_sorry: mi_dispiace
    lasts: dura durano durando
    not: non(?:_(?:è|va|da))?(?=_(?:da|dal|tra|fra)_)
    counts: conta contano
    every: ogni
    after_the: dopo_(?:il|la|lo)
    before_the: prima_(?:del|della|dello)
    i_cannot_watch: non_(?:posso|riesco)
    score: punteggio risultato prezzo temperatura
    does_not_occur: non_(?:è|viene|sono)_(?:presente|presenti|visibile|mostrat[oa]|rappresentat[oa])
    length: durata
    cook: cuocere cuoci bollire riposare
    takes: impiega
    start: iniziando
    end: conclude cessa finendo
    does_not_occur: non_(?:ho_trovato|trovato|trovo|figura|contiene)
    nobody: nessuno
    """,
)
RUSSIAN = Language(
    "",
    r"""
    frame: кадр(?:[аы]|ов|ам)?
    seconds: (?<=\d)_?-?(?:й|я|ю|ой|ей|го|ую)?_?секунд[аыуе]?(?:ми|ах|ой)? секунд[аыуе]?(?:ми|ах|ой)? сек (?<=\d)_?с
    minutes: минут[аыуе]?(?:ми|ах|ой)? мин
    hours: час(?:а|ов)?
    """,
    r"""
    seconds: (?<=\d)-(?:й|я|ю|ой|ей|го|ую)(?=_и_\d)
    from_the_beginning_to: (?:с|от)_начала(?:_видео)?_(?:до|по)
    to_the_end: до_конца
    from: с@ со@ от@
    to: до по@
    between: между
    and: и
    or: или
    start: начало начинается начинаясь
    end: конец заканчивается окончание
    answer: ответ
    approximately: примерно около
    does_not_occur: нет не_(?:происходит|показан[аоы]?|появляется|встречается|видно|существует)
    i_am_sorry: извините к_сожалению
    lasts: длится длятся продолжается
    not: не(?=_(?:с|от|между)_)
    counts: считает считают
    every: кажды[ей]
    after_the: после
    i_cannot_watch: не_(?:могу|способ[а-я]+)
    score: сч[её]т цена температура
    length: длительность продолжительность длиной
    cook: вари(?:ть|те) выпека(?:ть|йте) жарить туши(?:ть|те)
    takes: занимает
    start: старт начался началось
    end: завершается окончилось закончился финиш
    does_not_occur: не_(?:найден[аоы]?|нашёл|нашел|видно|содержит|присутствует)
    nobody: никто
    """,
    script=("\u0400", "\u04ff"),
)
ARABIC = Language(
    "",
    r"""
    frame: (?:ال)?إطار(?:ات)?
    seconds: ثانية ثوان[يٍ]? الثانية ثواني ثانيتين
    minutes: دقيقة دقائق الدقيقة
    hours: ساعة ساعات الساعة
    """,
    r"""
    from_the_beginning_to: من_(?:ال)?بداية(?:_الفيديو)?_(?:إلى|حتى)
    to_the_end: (?:إلى|حتى)_(?:ال)?نهاية
    from: من
    to: و?(?:إلى|الى|حتى)
    between: بين
    1_minute: (?<!\d_)دقيقة(?=_و_?\d)
    and_seconds: والثانية
    and: و@
    or: أو
    start: يبدأ البداية بداية تبدأ
    end: وينتهي ينتهي النهاية نهاية وتنتهي تنتهي
    answer: الإجابة الجواب
    approximately: حوالي تقريبا
    does_not_occur: لا_(?:يظهر|يحدث|يوجد|توجد|تظهر) غير_موجود ليس
    i_am_sorry: عذرا آسف
    lasts: يستمر تستمر يدوم
    i_cannot_watch: لا_(?:يمكنني|أستطيع) لست_قادرا
    score: النتيجة السعر
    length: مدة مدته مدتها
    does_not_occur: لم_(?:أجد|يظهر|يحدث)
    nobody: لا_أحد
    """,
    script=("\u0600", "\u06ff"),
)
HINDI = Language(
    "",
    r"""
    frame: फ़्रेम फ्रेम
    seconds: (?:(?<=\d)वें_)?सेकंड सेकेंड सेकण्ड सेकंड्स
    minutes: मिनट
    hours: घंटे घंटा
    """,
    r"""
    from_the_beginning_to: (?:शुरू|शुरुआत|प्रारंभ)_से@
    to_the_end: से_(?:वीडियो_के_)?अंत_तक
    to: से@ और(?=[^\n।]{1,16}के_बीच)
    and: और
    or: या@
    start: (?:शुरू|शुरुआत|प्रारंभ|आरंभ)(?=[^\d\n]{0,8}:)
    end: (?:समाप्त|समाप्ति|अंत|खत्म)(?=[^\d\n]{0,8}:)
    answer: उत्तर
    approximately: लगभग करीब
    : (?<=\d)_?(?:वें|वीं|वां)(?=_(?:से|और))
    does_not_occur: नहीं
    i_am_sorry: क्षमा माफ़
    i_cannot_watch: नहीं_(?:देख_सकता|देख_सकती|कर_सकता)
    score: स्कोर कीमत
    length: अवधि लंबाई
    does_not_occur: नहीं_मिल[ाी]
    nobody: कोई_नहीं कोई_भी_नहीं
    """,
    script=("\u0904", "\u0939"),
)
VIETNAMESE = Language(
    "giây giay phút phut không khong kết đến từ người cảnh",
    r"""
    frame: khung_hình
    seconds: gi[aâ]y(?:_thứ)?
    minutes: ph[uú]t
    hours: giờ
    """,
    r"""
    from_the_beginning_to: từ_đầu_(?:video_)?(?:đến|tới)
    to_the_end: (?:đến|tới)_(?:cuối|hết)
    from: từ
    to: đến tới
    between: giữa
    and: và
    or: hoặc
    start: bắt_đầu
    end: kết_thúc
    time: thời_gian
    at: lúc
    answer: đáp_án câu_trả_lời trả_lời
    approximately: khoảng
    does_not_occur: không_(?:có|xảy_ra|xuất_hiện|thấy|tồn_tại)
    i_am_sorry: xin_lỗi
    lasts: kéo_dài
    not: không_phải
    i_cannot_watch: không_thể
    every: mỗi
    score: tỷ_số tỉ_số giá
    length: dài thời_lượng
    cook: nấu luộc nướng hấp
    takes: mất
    does_not_occur: không_(?:tìm_thấy|hề|diễn_ra)
    nobody: không_ai
    """,
)
DUTCH = Language(
    "niemand seconden tussen tot seconde het een niet wordt deze geen duurt zijn",
    r"""
    seconds: seconden sec
    second: seconde
    minutes: minuten
    """,
    r"""
    from: van@ vanaf@
    to: tot_en_met tot
    between: tussen
    and: en@
    start: begint begin
    end: eindigt einde
    the: de het
    lasts: duurt duren
    not: niet
    or: of(?=_\d)
    counts: telt
    every: elke
    th: (?<=\d)(?:e|de|ste)
    does_not_occur: niet_(?:voor|te_zien|zichtbaar|getoond) geen
    i_cannot_watch: kan_(?:deze_|de_)?(?:geen|niet|video_niet)
    score: stand prijs temperatuur
    long: lang
    length: lengte duur
    cook: koken bakken rusten
    takes: neemt
    start: start starttijd beginnend
    end: eindtijd stopt
    does_not_occur: niet_(?:gevonden|aanwezig|plaats)
    nobody: niemand
    """,
)
INDONESIAN = Language(
    "detik menit tidak yang adegan dari hingga kejadian peristiwa sampai orang",
    r"""
    seconds: detik(?:_ke-?)?
    minutes: menit(?:_ke-?)?
    hours: jam
    """,
    r"""
    from: dari mulai
    to: hingga sampai
    between: antara
    and: dan
    start: dimulai
    end: berakhir selesai
    does_not_occur: tidak_(?:ada|terjadi|terlihat|muncul)
    i_am_sorry: maaf
    or: atau
    lasts: berlangsung_selama selama
    not: bukan
    to: sampai_dengan ke(?=_detik) ke(?=_\d)
    does_not_occur: tidak_(?:terdapat|ditemukan|ditampilkan|memuat|menunjukkan|menampilkan)
    i_cannot_watch: tidak_(?:dapat|bisa)
    every: setiap tiap
    approximately: sekitar kira-kira
    score: skor harga suhu
    length: durasi berdurasi
    cook: masak rebus panggang kukus
    takes: membutuhkan memakan_waktu
    start: awal(?=:)
    end: akhir(?=:) usai
    to: (?:sampai|hingga)_ke-?(?=_?\d)
    """,
)
POLISH = Language(
    """nikt sekund sekundy sekundę sekunda sekundzie między nie się scena sceny filmie nagraniu sekundą sekundach
    sekundami trwa zdarzenie osób""",
    r"""
    seconds: sekund[yęa]? sekundzie
    minutes: minut[yęa]?
    seconds: (?<=\d)\._sekund(?:[yęaą]|zie|ach|ami)? sekund(?:ą|ach|ami)
    hours: godzin[yaę]?
    """,
    r"""
    from: od
    to: do
    between: między
    and: i@ a@
    start: początek zaczyna
    end: koniec kończy
    does_not_occur: nie_(?:ma|występuje|pojawia)
    or: lub albo
    lasts: trwa trwają
    not: nie(?=_(?:od|między))
    does_not_occur: nie_(?:widać|zawiera|pokazano|znajduje|dzieje)
    i_cannot_watch: nie_mog[eę]
    approximately: około
    score: wynik cena temperatura
    length: długość
    cook: gotuj(?:emy)? piec smażyć
    takes: zajmuje
    start: rozpoczyna
    end: kończąc zakończenie
    does_not_occur: nie_(?:znaleziono|znalazłem|zawiera)
    nobody: nikt
    """,
)
TURKISH = Language(
    """kimse saniye saniyeden saniyeye saniyesinden saniyesine dakika saniyede saniyeler saniyeleri saniyelerde
    saniyesi arasında kadar değil yok videoda sahne olay bir ile sn bitiş başlangıç arası""",
    r"""
    seconds_to: (?:\._)?saniye(?:den|sinden)
    seconds: (?:\._)?saniye(?:ye|ler|sine|de|sinde)?
    seconds: (?<=\d)_?sn
    minutes: dakika (?<=\d)_?dk
    interval: arasında arası
    """,
    r"""
    and: ve
    start: başlangıç(?=:)
    end: bitiş(?=:)
    does_not_occur: yok görünmüyor
    to: il[ea](?=_\d[^\n]{0,24}arasında)
    to: ila
    or: veya ya_da
    start: başlangıç(?:_zamanı)?(?=:)
    end: bitiş(?:_zamanı)?(?=:)
    is_not_it: değil
    long: (?:boyunca_)?sür(?:üyor|er|mektedir|dü)
    to: '?(?:den|dan|ten|tan)(?=_\d)
    does_not_occur: bulunmuyor bulunmamaktadır yer_almıyor gerçekleşmiyor geçmiyor görülmüyor yoktur bulunamadı
    i_cannot_watch: izleyemiyorum izleyemem göremiyorum erişemiyorum
    approximately: yaklaşık
    score: skor fiyat sıcaklık
    length: süresi uzunluğu
    long: uzunluğunda
    cook: pişir[a-z]* kaynat[a-z]* dinlendir[a-z]*
    nobody: (?:hiç_)?kimse
    to: ve(?=_\d[^\n]{0,24}arasında)
    """,
)
LANGUAGES = (
    CHINESE, JAPANESE, KOREAN, SPANISH, PORTUGUESE, FRENCH, GERMAN, ITALIAN, RUSSIAN, ARABIC, HINDI, VIETNAMESE,
    DUTCH, INDONESIAN, POLISH, TURKISH,
)  # fmt: skip
