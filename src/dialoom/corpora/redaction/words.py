"""Word lists for telling names from ordinary words. Lower case; written for this purpose, not taken from a corpus."""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """A set of words from a text."""
    return frozenset(text.split())


GIVEN_NAMES = words_of("""
aaron abdul abdullah abigail adam adele aditya adrian adriana agnes ahmad ahmed aidan aisha ajay akash alan
alana albert alberto alec alejandro alessandro alex alexa alexander alexandra alexandre alexis alfred ali
alice alicia alina alison allan allison alyssa amanda amber amelia amir amit amy ana anand andre andrea
andreas andrew andy angela angelica angelina anil anita anjali ann anna anne annette annie anthony antoine
anton antonio arjun arnold arthur arun ashley ashok asif audrey barbara barry beatrice becky ben benjamin
bernard bernice beth bethany betty beverly bianca bob bobby boris bradley brandon brenda brendan brent brian
bridget brittany bruce bruno bryan byron caitlin caleb callum cameron camila camilla carl carla carlos carmen
carol carole caroline carolyn carrie catherine cathy cecilia cedric chandra charlene charles charlie chen
cheryl chloe chris christina christine christopher cindy claire clara clarence claude claudia clement cody
colin colleen connor conrad constance corey craig cristina curtis cynthia daisuke damian dan dana daniel
daniela danielle danny darren dave david dawid deborah debra deepak deepika denis denise dennis derek desmond
diana diane diego dimitri dmitri dolores dominic dominik donald donna dora doreen doris dorothy doug douglas
duncan dylan eddie edgar edith eduardo edward edwin eileen elaine eleanor elena eli elias elijah elisa elise
elizabeth ella ellen elliot elsa emil emily emma emmanuel enrique eric erica erik erin ernest esther ethan
eugene eva evan evelyn fabian farah fatima felicia felix fernando fiona florian frances francesca francesco
francis francisco francois frankie franz fred freddie frederick frieda gabriel gabriela gareth gary gavin
gemma geoff geoffrey george georgina gerald geraldine gerard gilbert gina giovanni gloria gordon graham greg
gregory guillaume gustav gustavo guy gwen hamza hana hannah hans harold harriet harris harry haruto harvey
hasan hassan heather hector heidi helen helena henri henrik henry herbert hiroshi howard hugh hugo ian ibrahim
ida igor ilona imran ines ingrid irene irina iris isaac isabel isabella isabelle ivan jack jackie jackson
jacob jacqueline jacques jaime jake james jamie jan jana jane janet janice jared jasmine jason javier jay
jayden jean jeanette jeff jeffrey jen jenna jennifer jenny jeremy jerome jerry jesse jessica jill jim jimmy
jin jing joan joanna joanne joe joel johan johann johannes john johnny jon jonas jonathan jorge jose josef
joseph josephine josh joshua josie joyce juan juanita judith judy jules julia julian juliana julie juliet
julio jun jurgen justin kamala karen karim karin karl karla katarina kate katharina katherine kathleen kathryn
kathy katie katrina kavita kayla keith kelly kelvin ken kenji kenneth kenny kerry kevin khalid kieran kim
kimberly kiran kirsten klaus krishna kristen kristin kristina kumar kyle lakshmi lara larry lars laura lauren
laurence leah lee leila len lena leo leon leonard leroy leslie lewis li liam lillian lily linda lindsay lisa
liu liz lloyd logan lois lorenzo lorraine louis louisa louise lucas lucia lucy luigi luis luisa lukas luke
lydia lynn mabel maddie magdalena mahmoud malcolm manuel marc marcel marcela marco marcos marcus margaret
maria mariam marian marianne marie marina mario marion marjorie marlene marta martha martin martina marvin
mary maryam mateo matt matteo matthew matthias maureen maurice max maya megan mehmet mei mel melanie melissa
michael michaela michel michelle miguel mika mike milan mildred milo mina ming miranda miriam mitchell mohamed
mohammad mohammed mohan molly mona monica monika morgan muhammad murali musa myra nadia nadine nancy naomi
natalia natalie natasha nathan nathaniel neha neil nelson nicholas nick nicola nicolas nicole nigel nikhil
nikita nikolai nina noah noel nora norma norman olaf oleg olga oliver olivia omar oscar oswald otto owen pablo
pamela paola paolo patricia patrick paul paula pauline pavel pedro peggy percy perry peter petra phil philip
philippa phillip pierre polly prakash pranav priya priyanka rachel rafael rahul raj rajesh ralph ramesh ramon
ramya randy rashid rashmi raul ravi raymond rebecca regina reginald rene renee rhys ricardo richard rick ricky
riley rita rob robbie robert roberta roberto robin rodney rodrigo roger rohan rohit roland roman ron ronald
ronnie rory rosa rosalind rosemary ross roxanne roy ruben rudolf rupert russell ruth ryan sabrina sadie sally
salman sam samantha samir sammy samuel sandeep sandra sandy sanjay santiago sara sarah saul scott sean
sebastian selena sergei sergio seth shane shannon sharon shaun shawn sheila shelley sherry shirley shreya
siddharth sidney sierra silvia simon simona simone siobhan sofia sonia sonja sophia sophie soren stacey stacy
stan stanley stefan stella stephanie stephen steve steven stewart stuart sujata sunil suresh susan susanna
suzanne sven svetlana sylvia takashi tamara tanya tara tariq tatiana ted teresa terrence terry tessa theo
theodore theresa thomas tiffany tim timothy tina toby todd tom tomas tommy toni tony tracey tracy trevor trina
tristan troy tyler uma umar ursula valentina valerie vanessa vera vernon veronica vicky victor vijay vikram
vincent viola virginia vivian vladimir walter wanda wayne wei wendy wesley wilfred wilhelm william wolfgang
xavier xiao yan yasmin yolanda yosef yuki yuri yusuf yvonne zachary zack zainab zara zoe zoltan
""") | words_of("daisy dean frank grace jordan lincoln mark marty noor pat rose victoria austin charlotte will")
"""Common given names of many languages; a name that is not here is found by its cue ("my name is ...") alone."""

AMBIGUOUS_NAMES = words_of("""
amber angel april art august austin bill bishop brooke can carol chance charity charlotte chase chip christian
cody crystal daisy dale dawn dean destiny diamond dolly don drew duke earl faith florence frank gene georgia
ginger glen grace grant guy harvey hazel heather holly hope hunter iris ivy jack jade jasmine jay jean jordan
joy june kim lance laurel lee lily lincoln logan london lynn madison mark mason may melody mercy milan miles
nelson norman olive paris pat pearl penny pierce pine randy ray reed rich riley rob robin rock roman rose roy
ruby rusty sandy savannah sierra skip sky stone sue summer sunny sydney taylor ted temple terry troy van
victoria violet virginia wade walker wayne will wren young
""")
"""Names that are also words or places: taken for names only beside a cue, and only when written with a capital."""

ORDINARY_WORDS = words_of("""
a able about above abroad absolutely ac accept acceptable access according account accounting accounts across
action actually add added addition additional address addresses adult adults advance advice afraid after
afternoon afternoons again age agent agents ago agree ah ahead aint air airline airlines airport airways alarm
all allergic allow almost alone along already alright also although always am amazing amazon american amount
an and another answer any anybody anyhow anymore anyone anything anytime anyway anywhere apart apartment
apartments apologies apologise apologize app apparently apple application apply appointment appreciate
appropriate april are area arent arrange arrival arrive arrived as ask asked asking assist assistance
assistant at attached attempt august available awaiting aware away awesome awful baby back bad bag baggage
balance bank bar basic bathroom be because become bed bedroom beds been before begin behind being believe
below beside besides best better between big bill billing birthday bit black block blue board body book booked
booking bookings both bother bottle bought box boy brand break breakfast bring british bro broken brother
brought bus business busy but buy by bye byee calendar call called caller calling calls came can cancel
cancelled cannot cant car card cards care careful cars case cash cause cell center central centre certain
certainly change changed changes charge charged charges chat cheap check checked checking checks chicken child
children chinese choice choose church city claim class clear clearly click close closed closing cloudy club
code coffee cold college come comes comfortable coming company complaint complaints complete completed
completely computer concern concerned confirm confirmation confirmed confused connect connection consider
contact contacted contacting continue convenient copy correct correctly cost could couldnt country couple
course cousin cream create credit curious current currently customer customers dad daily damaged dark data
date dates day days dear december decide decided definitely delay delayed deliver delivered delivery delta
depart department departure deposit desk destination detail details developer device did didnt die different
difficult digit digits dinner direct direction directly disappointed dish do doc doctor does doesnt dog doing
dollar dollars done dont door double down dr drive driver drop dude due dunno during each earlier early easily
east easy eat economy effective eight eighteen eighty either eleven else email emails emergency end ending
engineer english enjoy enough ensure enter entire error especially etc even evening evenings event ever every
everybody everyone everything exact exactly example excellent except exchange excited excuse expect expected
expensive experience experiencing expired explain extra extremely face facebook fact fair fairly fall family
fan fantastic far fast father favor favorite february fee feel feeling few fifteen fifty figure file fill
final finally find fine finish first five fix fixed flight flights floor folks food for forget forgot form
former forty forward found four fourteen free french fresh friday friend friendly friends from front full
fully fun further future game gave general gentlemen german get gets getting gift girl give given giving glad
gluten gmail go goes going gone gonna good goodbye google got gotta great green greetings group guarantee
guess guest guests guide guys had haha hai haii halal half hand handle happen happened happening happy hard
has hasnt hate have havent having he head health hear heard heart heavy hello help helped helpful helping
helps her here hers hey hi high higher hii him himself his hmm hold holiday home hope hopefully hoping
horrible hospital host hosts hot hotel hotels hour hours house how however hows huge human hundred hungry
hurry husband i id idea if ill im immediately important in inbox inc include included including inconvenience
incorrect indeed indian inform information inside instead interested internet into invoice is island isnt
issue issues it italian item items its itself ive january japanese job join july june just k keep kept key kid
kids kind kinda kindly knew know known korean kosher ladies lady large last late later latest lawyer least
leave leaving left lemme less let lets letter level light like likely limited line link list listed listen
little live ll llc local located location log logged login lol long longer look looking looks lose loss lost
lot lots love lovely low ltd luck luggage lunch luxury lyft maam machine mad madam made mail main major make
makes making mall mam man manage manager many march market marketing mate matter may maybe me meal mean means
meant medical medication medicine meet meeting member men mention mentioned menu mess message messages met
mexican might mile miles mind mine minute minutes miss missed missing misspelled mistake mobile model moderate
moment moments monday money month monthly months more morning mornings most mother move movie mr mrs ms much
museum music must my myself nah name named names near nearby nearest need needed needs neither netflix network
never new news next nice night nights nine nineteen ninety no nobody none noon nope normal north not note
nothing notice november now np number numbers nurse october of off offer offered office often oh ok okay old
omg on once one ones online only open opened opening opens option options or order ordered orders other others
otherwise ought our out outside over overall own package page paid pain park parking part parts party pass
passenger passengers past patience patient pay payment people per perfect perfectly perhaps period person
personal phone photo pick picked pilot pin pizza place placed plan plane planned planning play please pleased
pleasure pls plus plz point police policy pool popular possible possibly post postcode prefer preferably
present pretty previous price priced prices prior private probably problem problems process product prof
profile proper properly provide provided public pull purchase purchased purchasing put question questions
quick quickly quiet quite r rainy ran rate rather rating re reach read ready real really reason receipt
receive received recent recently reception recommend record red reference refund regard regarding regards
register registered regular related remember remind remove rental rep repeat replace replaced replacement
reply report representative request requested require required reschedule reservation reserve reserved reset
resolve resolved response rest restaurant restaurants return returned returns ride right road room rooms round
run running sad said sales same saturday save saw say saying says schedule scheduled school search season seat
seats sec second section security see seeing seem seems seen select send sending sent september serious
seriously serve served service services set seven seventeen seventy several shall share she ship shipped
shipping shirt shoes shop short should show showing shown side sign signed simple simply since single sir
sister sit site six sixteen sixty size slot slow small so some somebody someone something sometime sometimes
somewhere son soon sorry sort sound sounds south space spanish speak speaking special specific spell spelled
spend spoke spotify ssn staff standard star stars start started starting state stated station status stay
staying steps still stolen stop stopped store straight street stuck student such suggest suggestions sun
sunday sunny super supervisor supply support supposed sure surgery surname system table take taken takes
taking talk talking tax taxi teacher team technical tell ten terrible tesco test text th thai than thank
thankful thanks that thats the theater theatre their them themselves then there theres these they theyre thing
things think third thirteen thirty this those though thought thousand three through throughout thru thursday
thx ticket tickets till time times tired to today together told tomorrow tonight too took total touch toward
town track tracking train trains transaction transfer transferred travel traveling tried trip trouble true
trust try trying tuesday turkish turn tv twelve twenty twice twitter two ty type u uber uh um unable
unavailable under understand understood unfortunately unhappy united until unusual up update updated updates
upgrade upset ur urgent us use used user username using usual usually valid value various ve vegan vegetarian
verify very via view visit voice vs wait waited waiting walk wanna want wanted wants warm was wasnt watch
water way we website wed wednesday week weekday weekend weeks welcome well went were west what whatever whats
when where wherever whether which while white who whole whom whos whose why wife wifi will window wish with
within without woman women wonder wonderful wondering wont word words work worked working works world worried
worry worse worst worth would wouldnt wow write writing written wrong wtf yay yeah year years yellow yep yes
yesterday yet you youd your youre yours yourself youve yup zero zip zone
""")
"""Words that are never taken for a name on a cue alone: "my name is spelled wrong", "this is urgent"."""
